/**
 * A sixth list of changes as pull requests make them, of other trades than the lists before; nothing here says how they end.
 *
 * Each names the class with the code of both versions, as there; PullApplication runs either.
 */
final class SixthCases {
    private SixthCases() { }

    static final String CONTINUING = "org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler";

    /** Adds them to Cases.ALL. */
    static void load() { }

    static Case pull(String name, String change, Case.Build before, Case.Build after) { return Cases.add(name, change, before, after).ownTopics(); }

    static void refactorings() {
        pull("mushroom_kinds_sorted", "a loop over three kinds, each with a named filter, an un-named aggregate and a named reduce, runs in another order; an un-named count in front", SixthLeisure.KindsSorted::before, SixthLeisure.KindsSorted::after)
            .reads("finds", 1).writes("forest-counts", "porcini-grams", "porcini-largest", "morel-grams", "morel-largest", "chanterelle-grams", "chanterelle-largest")
            .first("finds ann porcini,oakwood,200 0", "finds bob morel,glen,100 1", "finds cid chanterelle,heath,300 2", "finds dan porcini,glen,0 3", "finds dan porcini,glen,150 4", "finds eve chanterelle,oakwood,80 5", "finds fay morel,heath,60 6", "finds ann chanterelle,glen,50 7", "finds gus porcini,moor,400 8")
            .then("finds ann porcini,glen,120 20", "finds bob morel,moor,90 21", "finds cid chanterelle,oakwood,210 22", "finds dan chanterelle,heath,70 23", "finds eve porcini,heath,310 24", "finds fay morel,glen,40 25", "finds gus chanterelle,moor,30 26", "finds hal porcini,oakwood,10 27");
        pull("piano_global_table_for_store", "addGlobalStore() and an un-named processor that looks rows up -> globalTable() and leftJoin(); an un-named count in front, an un-named aggregate and a named windowed count behind", SixthCrafts.GlobalTableForStore::before, SixthCrafts.GlobalTableForStore::after)
            .reads("tunings", 1).reads("pianos", 1).writes("piano-counts", "hall-cents", "hall-minutes")
            .first("pianos p1 aula 0", "pianos p2 dome 0.1", "pianos p3 aula 0.2", "pianos p4 barn 0.3", "pianos p5 loft 0.4", "pianos p6 club 0.5",
                "tunings t1 p1,9000 1", "tunings t2 p2,8500 2", "tunings t3 p3,0 3", "tunings t3 p3,9500 4", "tunings t4 p4,7000 5", "tunings t5 p5,7500 6", "tunings t6 p6,8000 7", "tunings t7 p7,6000 8")
            .then("pianos p2 barn 19", "tunings t1 p2,8800 20", "tunings t2 p1,9100 21", "tunings t3 p4,7200 22", "tunings t4 p3,9600 23", "tunings t5 p6,8100 24", "tunings t6 p5,7700 25", "tunings t8 p7,6100 26");
        pull("locksmith_one_processor", "two un-named processors of one named store, their outputs merged -> one behind a merge of the inputs, one of which gets a mapValues; an un-named count and a named windowed count behind", SixthCrafts.OneProcessor::before, SixthCrafts.OneProcessor::after)
            .reads("cut", 1).reads("lost", 1).writes("lock-keys", "customer-counts", "customer-minutes")
            .first("cut k1 2,ann 0", "cut k2 3,bob 1", "cut k3 1,cid 2", "lost k2 1,bob 3", "cut k4 4,dan 4", "cut k5 2,eve 5", "lost k4 2,dan 6", "cut k6 1,fay 7", "cut k1 1,ann 8")
            .then("lost k1 1,ann 20", "cut k2 2,bob 21", "lost k3 1,cid 22", "cut k4 1,dan 23", "lost k5 2,eve 24", "cut k6 3,fay 25", "cut k7 2,gus 26", "lost k6 1,fay 27");
        pull("parliament_grouped_once", "a named count and a named reduce, each with a named grouping of its own -> one named grouping for both; an un-named count in front", SixthServices.GroupedOnce::before, SixthServices.GroupedOnce::after)
            .reads("votes", 1).writes("motion-counts", "party-votes", "party-last")
            .first("votes ann red,m1,yes 0", "votes bob blue,m1,no 1", "votes cid green,m1,absent 2", "votes dan grey,m1,yes 3", "votes eve pink,m2,no 4", "votes fay teal,m2,yes 5", "votes cid green,m2,no 6", "votes ann red,m2,no 7")
            .then("votes ann red,m3,yes 20", "votes bob blue,m3,yes 21", "votes cid green,m3,no 22", "votes dan grey,m2,absent 23", "votes dan grey,m3,no 24", "votes eve pink,m3,yes 25", "votes fay teal,m3,no 26", "votes gus gold,m1,yes 27");
        pull("orchard_joins_swapped", "two left joins of a stream with two un-named tables in the other order; an un-named aggregate in front, an un-named aggregate and a named windowed count behind", SixthLeisure.JoinsSwapped::before, SixthLeisure.JoinsSwapped::after)
            .reads("pickings", 1).reads("sorts", 1).reads("plots", 1).writes("picker-kilos", "sort-kilos", "plot-minutes")
            .first("sorts t1 boskop 0", "sorts t2 elstar 0.1", "sorts t3 boskop 0.2", "sorts t4 gala 0.3", "sorts t5 cox 0.4", "sorts t6 elstar 0.5", "plots t1 north 0.6", "plots t2 south 0.7", "plots t3 south 0.8", "plots t4 east 0.9", "plots t5 west 0.91", "plots t7 north 0.92",
                "pickings ann t1,12 1", "pickings bob t2,20 2", "pickings cid t3,0 3", "pickings cid t3,8 4", "pickings dan t4,15 5", "pickings eve t5,9 6", "pickings fay t6,30 7", "pickings ann t7,5 8")
            .then("sorts t4 cox 19", "plots t6 east 19.5", "pickings ann t2,10 20", "pickings bob t1,14 21", "pickings cid t4,7 22", "pickings dan t3,11 23", "pickings eve t6,25 24", "pickings fay t5,6 25", "pickings gus t7,4 26");
        pull("umbrella_values_in_joiner", "a mapValues behind a named left join is done by its joiner; a named table and an un-named count in front, a named aggregate, an un-named reduce and an un-named windowed count behind", SixthCrafts.ValuesInJoiner::before, SixthCrafts.ValuesInJoiner::after)
            .reads("repairs", 1).reads("stands", 1).writes("umbrella-counts", "town-cents", "dearest", "town-minutes")
            .first("stands s1 bonn 0", "stands s2 ulm 0.1", "stands s3 bonn 0.2", "stands s4 kiel 0.3", "stands s5 jena 0.4", "stands s6 ulm 0.5",
                "repairs u1 s1,450 1", "repairs u2 s2,300 2", "repairs u3 s3,0 3", "repairs u3 s3,520 4", "repairs u4 s4,250 5", "repairs u5 s5,610 6", "repairs u6 s6,380 7", "repairs u7 s7,200 8")
            .then("repairs u1 s2,320 20", "repairs u2 s1,470 21", "repairs u3 s4,260 22", "repairs u4 s3,500 23", "repairs u5 s6,390 24", "repairs u6 s5,600 25", "repairs u8 s7,210 26");
        pull("ballet_values_for_transform", "transformValues() of a table without a store -> mapValues(); a named table and an un-named count in front, a named aggregate and an un-named windowed count behind", SixthLeisure.ValuesForTransform::before, SixthLeisure.ValuesForTransform::after)
            .reads("dancers", 1).writes("city-counts", "courses", "course-hours", "course-minutes")
            .first("dancers ann bonn,tango,3 0", "dancers bob ulm,waltz,2 1", "dancers cid bonn,samba,4 2", "dancers dan kiel,tango,1 3", "dancers eve jena,polka,5 4", "dancers fay ulm,waltz,6 5", "dancers ann bonn,waltz,2 6", "dancers gus kiel,swing,3 7")
            .then("dancers ann ulm,samba,5 20", "dancers bob - 21", "dancers cid bonn,tango,2 22", "dancers dan jena,tango,4 23", "dancers eve jena,swing,1 24", "dancers fay kiel,polka,3 25", "dancers hal bonn,waltz,6 26");
        pull("shipyard_reduce_for_aggregate", "an aggregate of a grouped table -> a reduce in its named store; a named table and an un-named count in front, an un-named count of the result behind", SixthCrafts.ReduceForAggregate::before, SixthCrafts.ReduceForAggregate::after)
            .reads("hulls", 1).writes("kind-counts", "yard-tons", "size-counts")
            .first("hulls h1 kiel,ferry,800 0", "hulls h2 gdansk,tug,120 1", "hulls h3 brest,barge,950 2", "hulls h4 kiel,tug,300 3", "hulls h5 turku,ferry,1400 4", "hulls h6 genoa,yacht,90 5", "hulls h7 cadiz,barge,1000 6", "hulls h1 kiel,ferry,850 7")
            .then("hulls h2 turku,tug,130 20", "hulls h3 - 21", "hulls h8 brest,ferry,700 22", "hulls h5 gdansk,ferry,1350 23", "hulls h6 genoa,yacht,95 24", "hulls h7 kiel,barge,990 25", "hulls h9 cadiz,tug,60 26");
        pull("quarry_groupings_named", "groupings of an un-named aggregate, an un-named reduce and an un-named windowed count get names", SixthCrafts.GroupingsNamed::before, SixthCrafts.GroupingsNamed::after)
            .reads("blasts", 1).writes("face-tons", "largest", "face-minutes")
            .first("blasts b1 north,slate,40 0", "blasts b2 south,granite,55 1", "blasts b3 east,marble,0 2", "blasts b3 east,marble,20 3", "blasts b4 west,basalt,35 4", "blasts b5 upper,slate,60 5", "blasts b6 lower,chalk,15 6", "blasts b7 north,gypsum,25 7")
            .then("blasts b1 south,slate,45 20", "blasts b2 north,granite,50 21", "blasts b3 west,marble,22 22", "blasts b4 east,basalt,30 23", "blasts b5 lower,gypsum,65 24", "blasts b6 upper,chalk,18 25", "blasts b8 inner,slate,70 26");
        pull("watchmaker_branches_in_a_map", "branches with consumers -> named branches of a named split(), used from its map behind it; an un-named count in front, an un-named aggregate, a named reduce and an un-named count behind", SixthCrafts.BranchesInAMap::before, SixthCrafts.BranchesInAMap::after)
            .reads("repairs", 1).writes("maker-counts", "quartz-cents", "dearest-pocket", "other-counts")
            .first("repairs w1 quartz,zeno,3000 0", "repairs w2 pocket,aida,9000 1", "repairs w3 wrist,orion,4500 2", "repairs w4 quartz,aida,0 3", "repairs w4 quartz,aida,2500 4", "repairs w5 pocket,luna,7000 5", "repairs w6 wrist,zeno,5200 6", "repairs w7 quartz,vega,2800 7", "repairs w8 pocket,zeno,6400 8")
            .then("repairs w1 quartz,aida,3100 20", "repairs w2 pocket,luna,8800 21", "repairs w3 wrist,zeno,4700 22", "repairs w4 quartz,zeno,2600 23", "repairs w5 pocket,aida,9100 24", "repairs w6 wrist,orion,5000 25", "repairs w7 quartz,vega,2900 26", "repairs w9 wrist,luna,4100 27");
        pull("brick_flat_map_values", "flatMap() that keeps the key -> flatMapValues(), of an input with two partitions, in front of two named aggregates; an un-named count in front", SixthCrafts.FlatMapValues::before, SixthCrafts.FlatMapValues::after)
            .reads("loads", 2).writes("load-counts", "lorry-bricks", "kind-bricks")
            .first("loads l1 red:100|grey:50 0", "loads l2 red:80 1", "loads l3 none 2", "loads l3 clay:60|white:20 3", "loads l4 glazed:10|red:30 4", "loads l5 grey:70 5", "loads l6 hollow:90|clay:15 6", "loads l1 red:40 7")
            .then("loads l1 clay:25 20", "loads l2 grey:60|red:20 21", "loads l3 red:35 22", "loads l4 hollow:45|white:5 23", "loads l5 glazed:12|grey:8 24", "loads l6 clay:55 25", "loads l7 red:10|hollow:65 26");
        pull("carpet_view_not_kept", "the named result of a join of two named tables is no longer kept, in front of a named aggregate; an un-named count behind", SixthCrafts.ViewNotKept::before, SixthCrafts.ViewNotKept::after)
            .reads("knots", 1).reads("weavers", 1).writes("working", "weaver-knots", "pattern-counts")
            .first("weavers l1 ann,rose 0", "weavers l2 bob,star 0.1", "weavers l3 ann,moon 0.2", "weavers l4 cid,rose 0.3", "weavers l5 dan,lion 0.4", "weavers l6 eve,wave 0.5", "knots l1 400 1", "knots l2 300 2", "knots l3 150 3", "knots l4 220 4", "knots l5 90 5", "knots l6 510 6", "knots l7 60 7")
            .then("knots l1 430 20", "weavers l2 ann,star 21", "knots l3 - 22", "weavers l4 fay,wave 23", "knots l5 120 24", "weavers l7 bob,moon 25", "knots l6 540 26", "weavers l6 dan,lion 27");
    }

    static void logic() {
        pull("notary_cents_for_euros", "a mapValues in front of an un-named aggregate and a named reduce: euros -> cents; an un-named count in front", SixthServices.CentsForEuros::before, SixthServices.CentsForEuros::after)
            .reads("deeds", 1).writes("kind-counts", "notary-fees", "highest")
            .first("deeds d1 kay,sale,900 0", "deeds d2 lee,will,250 1", "deeds d3 max,lease,0 2", "deeds d3 max,lease,400 3", "deeds d4 nan,gift,120 4", "deeds d5 ora,sale,1100 5", "deeds d6 pia,will,300 6", "deeds d7 kay,gift,150 7")
            .then("deeds d8 kay,sale,950 20", "deeds d9 lee,lease,260 21", "deeds d10 max,will,410 22", "deeds d11 nan,sale,130 23", "deeds d12 ora,gift,1000 24", "deeds d13 pia,lease,310 25", "deeds d14 quin,sale,700 26");
        pull("orchestra_other_hall", "the foreign key of a named join of two named tables: the hall -> the other hall; a named aggregate behind, an un-named count in front", SixthLeisure.OtherHall::before, SixthLeisure.OtherHall::after)
            .reads("rehearsals", 1).reads("halls", 1).writes("rehearsal-counts", "placed", "city-minutes")
            .first("halls h1 bonn 0", "halls h2 ulm 0.1", "halls h3 kiel 0.2", "halls h4 jena 0.3", "halls h5 bonn 0.4", "halls h6 ulm 0.5", "rehearsals r1 h1,h2,90 1", "rehearsals r2 h2,h3,60 2", "rehearsals r3 h3,h3,45 3", "rehearsals r4 h4,h1,120 4", "rehearsals r5 h5,h6,30 5", "rehearsals r6 h6,h4,75 6", "rehearsals r1 h1,h2,100 7")
            .then("halls h1 celle 18", "halls h6 mainz 19", "rehearsals r2 h2,h3,65 20", "rehearsals r3 h4,h5,50 21", "rehearsals r7 h1,h6,40 22", "rehearsals r8 h2,h1,35 23", "rehearsals r9 h3,h4,25 24", "rehearsals r10 h5,h5,55 25");
        pull("pigeon_top_five", "a named aggregate keeps the five fastest of a race in place of three; an un-named count in front, an un-named windowed count behind", SixthLeisure.TopFive::before, SixthLeisure.TopFive::after)
            .reads("flights", 1).writes("owner-counts", "fastest", "race-minutes")
            .first("flights p1 ann,r1,1200 0", "flights p2 bob,r1,1350 1", "flights p3 cid,r1,1100 2", "flights p4 dan,r1,1250 3", "flights p5 eve,r1,1150 4", "flights p6 fay,r2,1400 5", "flights p7 ann,r2,0 6", "flights p7 ann,r2,1300 7", "flights p8 bob,r2,1280 8", "flights p1 ann,r2,1290 9", "flights p2 bob,r3,1330 10")
            .then("flights p9 gus,r1,1180 20", "flights p6 fay,r1,1220 21", "flights p3 cid,r2,1310 22", "flights p4 dan,r2,1000 23", "flights p5 eve,r3,1190 24", "flights p7 ann,r3,1370 25", "flights p1 ann,r4,1240 26", "flights p8 bob,r3,1160 27");
        pull("icecream_field_with_default", "the texts that a named aggregate keeps get a third field, 0 where it is not there; an un-named count and a named windowed count in front", SixthLeisure.FieldWithDefault::before, SixthLeisure.FieldWithDefault::after)
            .reads("sales", 1).writes("flavour-counts", "flavour-minutes", "takings")
            .first("sales v1 lemon,300 0", "sales v2 mango,450 1", "sales v3 mint,0 2", "sales v3 mint,280 3", "sales v4 fig,520 4", "sales v5 lemon,310 5", "sales v6 rose,390 6", "sales v1 fig,500 7")
            .then("sales v1 mint,260 20", "sales v2 lemon,480 21", "sales v3 mango,440 22", "sales v4 rose,400 23", "sales v5 fig,530 24", "sales v6 lemon,305 25", "sales v7 mango,470 26");
        pull("lighthouse_unknown_uncharted", "what a named left join puts in place of a coast that is not there: another word, in front of a named count and an un-named windowed count; a named table and an un-named reduce in front", SixthServices.UnknownCoast::before, SixthServices.UnknownCoast::after)
            .reads("signals", 1).reads("lights", 1).writes("ship-lights", "coast-counts", "coast-minutes")
            .first("lights l1 north 0", "lights l2 south 0.1", "lights l3 east 0.2", "lights l4 north 0.3", "lights l5 west 0.4", "signals argo l1,flash 1", "signals brig l2,steady 2", "signals carl l6,flash 3", "signals dora l3,flash 4", "signals emma l7,steady 5", "signals fram l5,flash 6", "signals argo l4,steady 7", "signals carl l6,steady 8")
            .then("lights l7 south 19", "signals argo l6,flash 20", "signals brig l1,steady 21", "signals carl l2,flash 22", "signals dora l7,flash 23", "signals emma l8,flash 24", "signals fram l3,steady 25", "signals gale l6,flash 26", "signals hela l5,steady 27");
        pull("sauna_field_renamed", "a field of the class that a named aggregate keeps as JSON is renamed; an un-named count in front, an un-named windowed count behind", SixthLeisure.FieldRenamed::before, SixthLeisure.FieldRenamed::after)
            .reads("visits", 1).writes("guest-counts", "cabin-totals", "cabin-minutes")
            .first("visits ann birch,15 0", "visits bob steam,10 1", "visits cid smoke,0 2", "visits cid smoke,20 3", "visits dan herb,12 4", "visits eve birch,8 5", "visits fay salt,18 6", "visits ann stone,9 7")
            .then("visits ann steam,11 20", "visits bob birch,14 21", "visits cid herb,16 22", "visits dan smoke,13 23", "visits eve salt,7 24", "visits fay stone,19 25", "visits gus ice,3 26");
        pull("tram_empty_deleted", "a named aggregate returns null for what is empty, in front of a named count of the table by line; an un-named count in front", SixthServices.EmptyDeleted::before, SixthServices.EmptyDeleted::after)
            .reads("doors", 1).writes("door-counts", "aboard", "line-trams")
            .first("doors d1 t1,l4,3 0", "doors d2 t2,l4,5 1", "doors d3 t3,l6,2 2", "doors d2 t2,l4,-5 3", "doors d4 t4,l6,7 4", "doors d5 t5,l9,1 5", "doors d5 t5,l9,-1 6", "doors d6 t6,l9,4 7", "doors d7 t7,l2,6 8")
            .then("doors d1 t1,l4,-3 20", "doors d3 t3,l6,4 21", "doors d2 t2,l4,2 22", "doors d4 t4,l6,-7 23", "doors d8 t8,l2,5 24", "doors d6 t6,l9,-1 25", "doors d7 t7,l2,-6 26", "doors d9 t9,l6,3 27");
    }

    static void operators() {
        pull("paint_recipes_kept_longer", "how long a named versioned table keeps history: 2 -> 30 minutes, in front of a left join with it and a named aggregate; an un-named count in front", SixthCrafts.RecipesKeptLonger::before, SixthCrafts.RecipesKeptLonger::after)
            .reads("mixes", 1).reads("recipes", 1).writes("customer-counts", "mixed", "pigment-litres")
            .first("recipes sky cobalt 0", "recipes sand ochre 0.1", "recipes moss chrome 0.2", "recipes wine madder 0.3", "recipes ash bone 0.4", "recipes snow zinc 0.5", "mixes sky 3,ann 1", "mixes sand 5,bob 2", "mixes moss 2,cid 3", "mixes wine 4,dan 4", "mixes ash 6,eve 5", "mixes snow 1,fay 6",
                "recipes sky azure 40", "recipes sand umber 41", "recipes moss oxide 42", "recipes wine - 43", "mixes sky 2,bob 50", "mixes sand 7,ann 51")
            .then("mixes sky 4,cid 20", "mixes sand 3,dan 21", "mixes moss 5,eve 22", "mixes wine 6,fay 23", "recipes ash soot 55", "mixes ash 2,ann 56", "mixes snow 8,bob 57", "mixes moss 1,gus 58", "mixes wine 9,cid 59", "mixes ash 5,dan 24");
        pull("volcano_windows_kept_longer", "the retention of a named windowed count: 2 -> 30 minutes; an un-named count in front, an un-named reduce behind", SixthServices.WindowsKeptLonger::before, SixthServices.WindowsKeptLonger::after)
            .reads("tremors", 1).writes("sensor-counts", "volcano-minutes", "strongest")
            .first("tremors s1 etna,20 70", "tremors s2 hekla,35 71", "tremors s3 fuji,0 122", "tremors s3 fuji,15 123", "tremors s4 etna,40 124", "tremors s5 pelee,25 125", "tremors s6 teide,30 126", "tremors s7 erebus,10 127", "tremors s1 hekla,22 128", "tremors s2 etna,18 129")
            .then("tremors s1 etna,33 150", "tremors s2 hekla,12 151", "tremors s3 fuji,28 152", "tremors s4 pelee,45 153", "tremors s5 teide,16 154", "tremors s6 erebus,24 155", "tremors s7 etna,38 185", "tremors s8 fuji,14 186");
        pull("barber_lru_store", "the named store of an aggregate: one on disk -> the four customers last used, in memory; an un-named count and a named windowed count behind", SixthServices.LeastRecentlyUsed::before, SixthServices.LeastRecentlyUsed::after)
            .reads("cuts", 1).writes("customer-cents", "barber-counts", "barber-minutes")
            .first("cuts ann joe,1800 0", "cuts bob kim,2200 1", "cuts cid joe,0 2", "cuts cid joe,1900 3", "cuts dan lou,2500 4", "cuts eve kim,2100 5", "cuts fay max,1700 6", "cuts gus lou,2600 7", "cuts hal joe,1850 8")
            .then("cuts ann kim,2250 20", "cuts eve joe,1950 21", "cuts hal lou,2550 22", "cuts bob max,1750 23", "cuts gus kim,2150 24", "cuts cid lou,2400 25", "cuts ian joe,2000 26", "cuts ann max,1650 27");
        pull("radar_store_with_timestamps", "the named store of a named processor gets timestamps, and what was last seen a minute ago passes again; an un-named reduce in front, a named count and an un-named windowed count behind", SixthServices.SeenForAMinute::before, SixthServices.SeenForAMinute::after)
            .reads("passages", 1).writes("fastest", "camera-plates", "camera-minutes")
            .first("passages a11 c1,80 0", "passages b22 c2,95 1", "passages c33 c1,0 2", "passages c33 c3,70 3", "passages d44 c4,110 4", "passages a11 c2,85 5", "passages e55 c5,60 6", "passages f66 c6,75 7")
            .then("passages a11 c1,90 20", "passages b22 c3,88 21", "passages c33 c2,72 22", "passages g77 c4,105 23", "passages d44 c5,99 24", "passages e55 c6,64 25", "passages f66 c1,78 26", "passages a11 c4,83 90", "passages g77 c2,101 91");
        pull("removals_not_invoiced_too", "a named join of two streams -> a left join; an un-named count in front, a named aggregate and a named count behind", SixthServices.NotInvoicedToo::before, SixthServices.NotInvoicedToo::after)
            .reads("jobs", 1).reads("invoices", 1).writes("town-counts", "invoiced", "van-cents", "job-counts")
            .first("jobs j1 v1,bonn 0", "jobs j2 v2,ulm 1", "jobs j3 v3,kiel 2", "invoices j1 40000 3", "jobs j4 v4,jena 4", "jobs j5 v1,ulm 5", "invoices j4 52000 6", "jobs j6 v5,bonn 7", "invoices j6 31000 8", "invoices j8 47000 9")
            .then("invoices j2 27000 20", "jobs j7 v2,kiel 21", "jobs j8 v6,jena 22", "invoices j7 45000 23", "invoices j5 38000 24", "jobs j9 v3,bonn 25", "jobs j10 v4,ulm 80", "invoices j10 29000 81", "jobs j11 v1,kiel 82", "jobs j12 v5,bonn 140", "invoices j12 33000 141");
        pull("escape_photos_too", "a third input, made later, of a cogroup in sessions with a named store; an un-named count in front, a named count behind", SixthLeisure.PhotosToo::before, SixthLeisure.PhotosToo::after)
            .reads("games", 1).reads("hints", 1).laterReads("photos", 1).writes("room-counts", "visits", "riddle-counts")
            .first("games ant vault,60 0", "games bee crypt,45 1", "hints ant key 2", "games cat attic,50 3", "games dog lab,40 4", "hints cat code 5", "games elk cabin,55 6", "games fox vault,35 7", "hints bee map 8")
            .then("hints ant map 20", "photos bee p1 21", "games ant crypt,30 22", "hints dog key 23", "photos elk p2 24", "games gnu attic,25 25", "hints cat lamp 26", "photos fox p3 27", "games cat lab,20 80", "photos ant p4 81", "hints gnu code 82");
        pull("horse_put_out_by_punctuator", "a named processor puts its sums out every ten seconds in place of at once, and gets a second named store; an un-named count in front, an un-named reduce behind", SixthLeisure.PutOutByPunctuator::before, SixthLeisure.PutOutByPunctuator::after)
            .reads("laps", 1).writes("track-counts", "horse-metres", "farthest")
            .first("laps ajax oval,800 0", "laps bess hill,600 1", "laps colt sand,0 2", "laps colt sand,700 3", "laps dusk oval,900 4", "laps echo park,500 5", "laps flint beach,650 6", "laps ajax sand,750 7")
            .then("laps ajax hill,620 20", "laps bess oval,820 21", "laps colt park,480 22", "laps dusk sand,710 23", "laps echo beach,640 31", "laps flint oval,880 32", "laps gale hill,590 33", "laps ajax park,510 45", "laps bess beach,660 60");
        pull("comic_outer_join", "a named join of two named tables with a named result -> an outer join; a named windowed count behind, an un-named count behind", SixthLeisure.OuterJoin::before, SixthLeisure.OuterJoin::after)
            .reads("stock", 1).reads("wishes", 1).writes("balances", "comic-minutes", "publisher-counts")
            .first("stock akira 5,kodo 0", "stock bone 3,cart 1", "wishes akira 2 2", "stock maus 7,pan 3", "wishes saga 4 4", "stock hilda 2,fly 5", "wishes hilda 6 6", "stock blast 1,darg 7", "wishes maus 1 8")
            .then("wishes bone 3 20", "stock saga 8,imag 21", "wishes tintin 9 22", "stock asterix 4,darg 23", "wishes akira 5 24", "stock hilda - 25", "wishes maus - 26", "stock blast 6,darg 27");
        pull("circus_buffer_unbounded", "the buffer of a named suppress of a named aggregate: three rows, put out early when full -> without a bound; an un-named count in front, an un-named count of the table behind", SixthLeisure.BufferUnbounded::before, SixthLeisure.BufferUnbounded::after)
            .reads("tickets", 1).writes("visitor-counts", "show-seats", "house-counts")
            .first("tickets ann lions,4 0", "tickets bob clowns,2 1", "tickets cid ropes,0 2", "tickets cid ropes,6 3", "tickets dan fire,3 4", "tickets eve magic,8 5", "tickets fay horses,5 6", "tickets ann clowns,1 7", "tickets gus lions,7 8")
            .then("tickets ann fire,2 20", "tickets bob lions,3 21", "tickets cid magic,4 22", "tickets dan ropes,5 23", "tickets eve horses,6 24", "tickets fay clowns,9 25", "tickets hal dogs,2 26", "tickets bob fire,1 60", "tickets cid dogs,3 100");
    }

    static void settings() {
        pull("sculptor_source_topics_too", "topology.optimization: merge.repartition.topics -> all for a named and an un-named table, a left join of a stream, a named aggregate joined with a table, an un-named count", SixthCrafts.SourceTopicsToo::build, SixthCrafts.SourceTopicsToo::build)
            .was("topology.optimization", "merge.repartition.topics").now("topology.optimization", "all").reads("blocks", 1).reads("sculptors", 1).reads("orders", 1).writes("placed", "sculptor-kilos", "quarry-counts")
            .first("blocks b1 paros,400 0", "blocks b2 carrara,900 0.1", "blocks b3 paros,250 0.2", "blocks b4 naxos,700 0.3", "blocks b5 estremoz,320 0.4", "blocks b6 laas,510 0.5", "sculptors ann bonn 0.6", "sculptors bob ulm 0.7", "sculptors cid kiel 0.8", "sculptors dan jena 0.9",
                "orders o1 b1,ann 1", "orders o2 b2,bob 2", "orders o3 b3,cid 3", "orders o4 b4,dan 4", "orders o5 b5,eve 5", "orders o6 b6,fay 6")
            .then("blocks b3 laas,260 19", "blocks b7 naxos,800 19.5", "orders o7 b2,hal 20", "orders o8 b1,bob 21", "orders o9 b4,cid 22", "orders o10 b3,dan 23", "orders o11 b6,ian 24", "orders o12 b5,fay 25", "orders o13 b7,gus 26", "sculptors ann celle 40", "sculptors eve trier 41");
        pull("newsletter_handler_removed", "processing.exception.handler: the one that logs and continues -> none, where earlier and later rows are broken; an un-named reduce, a named aggregate, an un-named windowed count", SixthServices.HandlerRemoved::build, SixthServices.HandlerRemoved::build)
            .was("processing.exception.handler", CONTINUING).reads("openings", 1).writes("reader-letters", "letter-seconds", "letter-minutes")
            .first("openings ann may,30 0", "openings bob june,12 1", "openings cid may,long 2", "openings cid april,45 3", "openings dan july,8 4", "openings eve march,22 5", "openings fay june,17 6", "openings ann april,5 7")
            .then("openings ann june,14 20", "openings bob may,33 21", "openings cid july,26 22", "openings dan march,short 23", "openings eve april,19 24", "openings fay may,40 25", "openings gus june,11 26");
        pull("bookbinder_headers_given_up", "dsl.store.format: HEADERS -> none for a named table, an un-named reduce and a named aggregate", SixthCrafts.HeadersGivenUp::build, SixthCrafts.HeadersGivenUp::build)
            .was("dsl.store.format", "HEADERS").reads("volumes", 1).reads("binders", 1).writes("thickest", "town-pages")
            .first("binders ann bonn 0", "binders bob ulm 0.1", "binders cid bonn 0.2", "binders dan kiel 0.3", "binders eve jena 0.4", "binders fay ulm 0.5", "volumes v1 ann,linen,300 1", "volumes v2 bob,silk,120 2", "volumes v3 cid,hide,0 3", "volumes v3 cid,hide,450 4", "volumes v4 dan,paper,80 5", "volumes v5 eve,velvet,210 6", "volumes v6 fay,jute,160 7")
            .then("volumes v7 ann,silk,140 20", "volumes v8 bob,linen,280 21", "volumes v9 cid,paper,95 22", "volumes v10 dan,hide,400 23", "volumes v11 eve,jute,170 24", "volumes v12 fay,velvet,230 25", "volumes v13 gus,linen,310 26");
        pull("glass_rocksdb_tuned", "rocksdb.config.setter: none -> one with a filter, larger blocks and compaction by levels, for an un-named table, an un-named count, a named aggregate and an un-named windowed count", SixthCrafts.Tuned::build, SixthCrafts.Tuned::build)
            .now("rocksdb.config.setter", "SixthCrafts$Tuned$ForLookUps").reads("pieces", 1).reads("ovens", 1).writes("blower-counts", "oven-degrees", "blower-minutes")
            .first("ovens o1 1100 0", "ovens o2 1050 0.1", "ovens o3 1120 0.2", "ovens o4 980 0.3", "ovens o5 1010 0.4", "ovens o6 1080 0.5", "pieces g1 ann,o1,300 1", "pieces g2 bob,o2,450 2", "pieces g3 cid,o3,0 3", "pieces g3 cid,o3,200 4", "pieces g4 dan,o4,650 5", "pieces g5 eve,o5,120 6", "pieces g6 fay,o6,380 7")
            .then("ovens o2 1060 19", "pieces g7 ann,o2,310 20", "pieces g8 bob,o1,440 21", "pieces g9 cid,o4,210 22", "pieces g10 dan,o3,640 23", "pieces g11 eve,o6,130 24", "pieces g12 fay,o5,370 25", "pieces g13 gus,o7,90 26");
        pull("backup_application_renamed", "application.id: another, for a named table, an un-named count and a named aggregate behind a named join", SixthServices.ApplicationRenamed::build, SixthServices.ApplicationRenamed::build)
            .renamed().reads("runs", 1).reads("pools", 1).writes("host-counts", "site-megabytes")
            .first("pools daily bonn 0", "pools weekly ulm 0.1", "pools tape bonn 0.2", "pools cloud kiel 0.3", "pools cold jena 0.4", "pools lab ulm 0.5", "runs r1 web1,daily,400 1", "runs r2 web2,weekly,900 2", "runs r3 db1,tape,0 3", "runs r3 db1,tape,1500 4", "runs r4 db2,cloud,700 5", "runs r5 mail,cold,350 6", "runs r6 wiki,lab,120 7")
            .then("runs r7 web1,weekly,410 20", "runs r8 web2,daily,880 21", "runs r9 db1,cloud,1450 22", "runs r10 db2,tape,720 23", "runs r11 mail,lab,340 24", "runs r12 wiki,cold,130 25", "runs r13 proxy,spare,60 26");
    }

    static void topics() {
        pull("bus_partitioner_of_its_own", "a named repartition() with two partitions gets a partitioner of its own, in front of a named aggregate and a named windowed count; an un-named reduce in front", SixthServices.PartitionerOfItsOwn::before, SixthServices.PartitionerOfItsOwn::after)
            .reads("positions", 2).writes("bus-delays", "line-delays", "line-minutes")
            .first("positions b1 n1,20 0", "positions b2 n2,45 1", "positions b3 10,-5 2", "positions b3 10,30 3", "positions b4 11,15 4", "positions b5 12,60 5", "positions b6 n3,25 6", "positions b7 13,10 7", "positions b8 n4,35 8", "positions b9 14,40 9")
            .then("positions b1 n2,22 20", "positions b2 n1,48 21", "positions b3 11,33 22", "positions b4 10,18 23", "positions b5 13,55 24", "positions b6 n4,28 25", "positions b7 12,12 26", "positions b8 n3,31 27", "positions b9 15,5 28", "positions b10 14,50 29");
        pull("helpdesk_repartition_removed", "a named repartition() with three partitions removed behind an input with one, in front of a named aggregate and a named windowed count; an un-named count in front", SixthServices.RepartitionRemoved::before, SixthServices.RepartitionRemoved::after)
            .reads("tickets", 1).writes("agent-counts", "customer-minutes", "customer-windows")
            .first("tickets ann kay,20 0", "tickets bob lee,15 1", "tickets cid max,0 2", "tickets cid max,35 3", "tickets dan nan,50 4", "tickets eve kay,10 5", "tickets fay ora,25 6", "tickets ann lee,5 7")
            .then("tickets ann max,12 20", "tickets bob kay,18 21", "tickets cid lee,30 22", "tickets dan ora,45 23", "tickets eve nan,22 24", "tickets fay max,8 25", "tickets gus kay,40 26");
        pull("pottery_between_topic_renamed", "a topic of its own that the application puts out and reads is renamed, in front of a named aggregate and an un-named windowed count; an un-named count in front", SixthCrafts.BetweenTopicRenamed::before, SixthCrafts.BetweenTopicRenamed::after)
            .reads("pieces", 1).topic("glazed", 1).grown("pieces-by-glaze", 1).writes("potter-counts", "glaze-hours", "glaze-minutes")
            .first("pieces p1 ann,celadon,3 0", "pieces p2 bob,raku,5 1", "pieces p3 cid,ash,0 2", "pieces p3 cid,ash,2 3", "pieces p4 dan,shino,4 4", "pieces p5 eve,salt,6 5", "pieces p6 fay,tin,1 6", "pieces p7 ann,raku,2 7")
            .then("pieces p8 ann,raku,4 20", "pieces p9 bob,celadon,3 21", "pieces p10 cid,shino,5 22", "pieces p11 dan,ash,2 23", "pieces p12 eve,tin,7 24", "pieces p13 fay,salt,1 25", "pieces p14 gus,oribe,6 26");
    }

    static {
        refactorings();
        logic();
        operators();
        settings();
        topics();
    }
}
