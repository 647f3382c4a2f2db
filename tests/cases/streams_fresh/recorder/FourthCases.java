/**
 * A fourth list of changes as pull requests make them, of other trades than the lists before; nothing here says how they end.
 *
 * Each names the class with the code of both versions, as there; PullApplication runs either.
 */
final class FourthCases {
    private FourthCases() { }

    /** Adds them to Cases.ALL. */
    static void load() { }

    static Case pull(String name, String change, Case.Build before, Case.Build after) { return Cases.add(name, change, before, after).ownTopics(); }

    static void refactorings() {
        pull("pharmacy_one_filter", "two filters -> one before an un-named count, a join with an un-named table and a named aggregate, a named windowed count", FourthCity.OneFilter::before, FourthCity.OneFilter::after)
            .reads("fills", 1).reads("drugs", 1).writes("patient-fills", "class-units", "shop-minutes")
            .first("drugs aspirin pain 0", "drugs iodine wound 0.1", "drugs zinc cold 0.2", "drugs codeine pain 0.3", "drugs mint cold 0.4", "drugs gauze wound 0.5",
                "fills p1 aspirin,20,east 1", "fills p2 iodine,1,west 2", "fills p3 zinc,30,east 3", "fills p4 codeine,0,west 4", "fills p5 mint,4,port 5", "fills p6 gauze,9,port 6", "fills p7 broken 7", "fills p1 zinc,10,west 8")
            .then("fills p1 codeine,12,east 20", "fills p2 aspirin,8,west 21", "fills p3 gauze,2,port 22", "fills p4 zinc,5,east 23", "fills p5 mint,0,port 24", "fills p6 iodine,3,west 25", "fills p8 aspirin,6,east 26");
        pull("post_split_by_size", "two filters -> split() with consumers before a named count, an un-named aggregate and an un-named windowed count; an un-named count in front", FourthCity.SplitBySize::before, FourthCity.SplitBySize::after)
            .reads("parcels", 1).writes("office-counts", "small-counts", "large-grams", "large-minutes")
            .first("parcels a1 bonn,small,200 0", "parcels a2 ulm,large,9000 1", "parcels a3 kiel,small,150 2", "parcels a4 bonn,large,7000 3", "parcels a5 ulm,middle,900 4", "parcels a6 kiel,large,12000 5", "parcels a7 jena,small,80 6")
            .then("parcels a1 bonn,large,5000 20", "parcels a2 ulm,large,4000 21", "parcels a3 kiel,small,100 22", "parcels a4 bonn,small,300 23", "parcels a5 jena,middle,700 24", "parcels a6 kiel,large,6000 25", "parcels a8 ulm,small,50 26");
        pull("vet_some_steps_named", "names given to a source, a filter, a mapValues, an aggregate, a join of one key with a table and a count; groupings and stores stay as they are", FourthCity.SomeStepsNamed::before, FourthCity.SomeStepsNamed::after)
            .reads("treatments", 1).reads("pets", 1).writes("pet-cents", "owner-counts", "vet-minutes")
            .first("pets rex ann 0", "pets mia bob 0.1", "pets tom ann 0.2", "pets kim cid 0.3", "pets leo dan 0.4", "pets ida bob 0.5",
                "treatments rex Otto,Shot,4000 1", "treatments mia Olga,cut,9000 2", "treatments tom OTTO,shot,4500 3", "treatments kim olga,Tooth,0 4", "treatments leo otto,cut,8000 5", "treatments ida Olga,shot,4100 6", "treatments zoe otto,shot,100 7")
            .then("treatments rex olga,tooth,7000 20", "treatments mia OTTO,shot,4000 21", "treatments tom otto,cut,300 22", "treatments kim Olga,shot,4000 23", "treatments leo olga,cut,10 24", "treatments ida otto,Tooth,60 25", "treatments zoe olga,shot,1 26");
        pull("chess_parts_in_other_order", "four of five parts in another order: an un-named count, a named join with a named table and a named count, an un-named windowed count, an un-named aggregate behind a named grouping; an un-named reduce of another topic stays last",
            FourthCity.PartsInOtherOrder::before, FourthCity.PartsInOtherOrder::after)
            .reads("games", 1).reads("players", 1).reads("ratings", 1).writes("opening-counts", "club-counts", "game-minutes", "opening-moves", "best-ratings")
            .first("players ann rook 0", "players bob pawn 0.1", "players cid rook 0.2", "players dan king 0.3", "games g1 ann,slav,40 1", "games g2 bob,dutch,25 2", "games g3 cid,slav,31 3", "games g4 dan,reti,60 4", "games g5 ann,dutch,12 5", "games g6 eve,reti,0 6", "games g6 eve,reti,33 7",
                "ratings ann 1900 8", "ratings bob 1500 9", "ratings cid 2100 10", "ratings dan 1700 11", "ratings eve 1300 12", "ratings fay 1850 13")
            .then("games g1 bob,reti,22 20", "games g2 cid,slav,18 21", "games g3 dan,dutch,44 22", "games g4 ann,slav,70 23", "games g5 eve,reti,9 24", "games g7 bob,dutch,51 25",
                "ratings ann 1880 26", "ratings bob 1550 27", "ratings cid 2050 28", "ratings dan 1710 29", "ratings eve 1290 30", "ratings gus 1600 31");
        pull("wiki_serdes_given", "lambdas -> method references, inputs read by a class of their own, serdes given to all that had the default ones", FourthCity.SerdesGiven::before, FourthCity.SerdesGiven::after)
            .reads("edits", 2).reads("pages", 2).writes("page-users", "topic-counts", "user-bytes")
            .first("pages moss plants 0", "pages fern plants 0.1", "pages lynx beasts 0.2", "pages wolf beasts 0.3", "pages salt rocks 0.4", "pages opal rocks 0.5",
                "edits moss ann,40 1", "edits fern bob,-5 2", "edits lynx ann,300 3", "edits wolf cid,0 4", "edits salt bob,12 5", "edits opal dan,7 6", "edits moss cid,9 7", "edits rain ann,1 8")
            .then("edits moss bob,3 20", "edits fern ann,60 21", "edits lynx dan,-20 22", "edits wolf ann,5 23", "edits salt cid,8 24", "edits opal bob,2 25", "edits rain dan,4 26");
        pull("tailor_group_by_for_select_key", "a selectKey that two groupByKey share -> two groupBy before a named count and an un-named aggregate; an un-named windowed count and a named reduce behind", FourthCity.GroupByForSelectKey::before, FourthCity.GroupByForSelectKey::after)
            .reads("seams", 1).writes("cloth-counts", "cloth-minutes", "tailor-minutes", "order-tailors")
            .first("seams o1 wool,kim,30 0", "seams o2 silk,lee,45 1", "seams o3 linen,kim,20 2", "seams o4 wool,max,60 3", "seams o5 tweed,lee,0 4", "seams o6 felt,max,15 5", "seams o5 tweed,lee,25 6", "seams o1 silk,max,10 7")
            .then("seams o1 wool,lee,5 20", "seams o2 silk,kim,40 21", "seams o3 linen,max,35 22", "seams o4 tweed,kim,12 23", "seams o5 felt,lee,8 24", "seams o6 wool,max,3 25", "seams o7 linen,lee,50 26");
        pull("cheese_filter_behind_stream", "filter of a named table and toStream -> toStream and a filter before a named count; an un-named aggregate and an un-named count of a stream joined with the table behind", FourthCraft.FilterBehindStream::before, FourthCraft.FilterBehindStream::after)
            .reads("wheels", 1).reads("turns", 1).writes("heavy", "cave-counts", "wheel-turns", "cave-turns")
            .first("wheels w1 deep,1200 0", "wheels w2 cold,800 0.1", "wheels w3 deep,2500 0.2", "wheels w4 damp,600 0.3", "wheels w5 cold,1500 0.4", "wheels w6 damp,1100 0.5",
                "turns w1 ann,2 1", "turns w2 bob,1 2", "turns w3 ann,3 3", "turns w4 cid,1 4", "turns w5 bob,2 5", "turns w6 cid,4 6", "turns w7 ann,1 7")
            .then("wheels w1 deep,900 20", "wheels w2 cold,1300 20.1", "wheels w3 - 20.2", "wheels w4 damp,700 20.3", "wheels w7 deep,1900 20.4", "turns w1 bob,1 21", "turns w2 ann,2 22", "turns w3 cid,1 23", "turns w4 ann,5 24", "turns w5 cid,1 25", "turns w6 bob,2 26", "turns w7 ann,3 27");
        pull("radio_merge_turned_round", "three inputs merged in the opposite order before an un-named aggregate, a named count and an un-named windowed count behind a named grouping; an un-named count of one input in front", FourthNet.MergeTurnedRound::before, FourthNet.MergeTurnedRound::after)
            .reads("studio", 1).reads("web", 1).reads("phone", 1).writes("studio-counts", "listener-seconds", "song-counts", "song-minutes")
            .first("studio l1 blue,180 0", "web l2 red,200 1", "phone l3 blue,60 2", "studio l4 green,240 3", "web l5 red,0 4", "phone l6 gold,90 5", "web l5 red,30 6", "studio l1 gold,20 7")
            .then("phone l1 red,100 20", "studio l2 blue,150 21", "web l3 green,80 22", "phone l4 gold,70 23", "web l5 blue,10 24", "studio l6 red,210 25", "web l7 green,5 26");
        pull("lottery_generated_name_given", "an un-named count is given its store's generated name; un-named aggregate, named reduce and un-named windowed count behind", FourthNet.GeneratedNameGiven::before, FourthNet.GeneratedNameGiven::after)
            .reads("tickets", 1).writes("ticket-counts", "shop-cents", "dearest", "game-minutes")
            .first("tickets t1 east,six,200 0", "tickets t2 west,keno,500 1", "tickets t3 port,six,100 2", "tickets t4 east,spiel,900 3", "tickets t5 hill,keno,0 4", "tickets t6 west,six,300 5", "tickets t5 hill,keno,400 6", "tickets t1 east,six,700 7")
            .then("tickets t1 west,keno,600 20", "tickets t2 east,six,100 21", "tickets t3 port,spiel,800 22", "tickets t4 hill,six,250 23", "tickets t5 east,keno,50 24", "tickets t6 port,six,150 25", "tickets t7 west,spiel,350 26");
        pull("podcast_own_names", "names of their own for a table, stores, groupings and a join that had none", FourthNet.OwnNames::before, FourthNet.OwnNames::after)
            .reads("plays", 1).reads("shows", 1).writes("listener-seconds", "host-counts", "show-minutes")
            .first("shows law eva 0", "shows sea jon 0.1", "shows art eva 0.2", "shows bees ida 0.3", "shows maps jon 0.4", "shows rust ida 0.5",
                "plays l1 law,600 1", "plays l2 sea,300 2", "plays l3 art,900 3", "plays l4 bees,0 4", "plays l5 maps,120 5", "plays l6 rust,60 6", "plays l1 sea,30 7")
            .then("plays l1 art,100 20", "plays l2 law,200 21", "plays l3 bees,400 22", "plays l4 maps,50 23", "plays l5 rust,70 24", "plays l6 sea,20 25", "plays l7 law,10 26");
    }

    static void logic() {
        pull("customs_filter_behind_reduce", "a filter of rows before a named reduce -> a filter of its table before a named count; an un-named count and an un-named windowed count in front", FourthCity.FilterBehindReduce::before, FourthCity.FilterBehindReduce::after)
            .reads("declared", 1).writes("lorry-counts", "kind-minutes", "country-euros", "levels")
            .first("declared l1 peru,fruit,300 0", "declared l2 oman,cloth,80 1", "declared l3 chile,copper,2500 2", "declared l4 kenya,tea,150 3", "declared l5 nepal,wool,40 4", "declared l6 cuba,sugar,950 5", "declared l1 peru,fruit,60 6")
            .then("declared l1 peru,fish,70 20", "declared l2 oman,cloth,90 21", "declared l3 chile,fruit,500 22", "declared l4 kenya,wool,20 23", "declared l5 nepal,tea,45 24", "declared l6 cuba,sugar,99 25", "declared l7 malta,cloth,1200 26", "declared l5 nepal,wool,30 27");
        pull("ski_longer_grace", "the grace of un-named windows: 5 seconds -> 1 minute; a named aggregate in front, an un-named reduce behind", FourthNet.LongerGrace::before, FourthNet.LongerGrace::after)
            .reads("rides", 1).writes("pass-metres", "lift-minutes", "steepest")
            .first("rides p1 north,300 0", "rides p2 south,500 10", "rides p3 glade,200 30", "rides p4 north,350 65", "rides p5 south,0 70", "rides p6 glade,260 80", "rides p1 south,480 85", "rides p2 north,310 50")
            .then("rides p3 north,320 110", "rides p4 south,510 126", "rides p5 glade,240 100", "rides p6 north,330 118", "rides p1 glade,250 140", "rides p2 south,490 90", "rides p7 north,340 190", "rides p3 glade,230 150");
        pull("dating_pairs_in_order", "the key of a named count: who likes whom -> both in order; an un-named count in front, an un-named windowed count behind", FourthNet.PairsInOrder::before, FourthNet.PairsInOrder::after)
            .reads("likes", 1).writes("kind-counts", "pair-counts", "person-minutes")
            .first("likes ann bob,wave 0", "likes bob ann,heart 1", "likes cid ann,wave 2", "likes dan eve,heart 3", "likes eve eve,wave 4", "likes fay cid,heart 5", "likes eve dan,wave 6", "likes fay dan,wave 7")
            .then("likes ann cid,heart 20", "likes bob ann,wave 21", "likes cid fay,wave 22", "likes dan fay,heart 23", "likes eve dan,heart 24", "likes fay cid,wave 25", "likes gus ann,wave 26", "likes ann bob,heart 27");
        pull("marathon_best_for_sum", "what the aggregator of a named store keeps: the sum -> the least; an un-named count and a named windowed count behind", FourthNet.BestForSum::before, FourthNet.BestForSum::after)
            .reads("splits", 1).writes("runner-seconds", "club-counts", "point-minutes")
            .first("splits r1 p5,1500,hare 0", "splits r2 p5,1620,fox 1", "splits r3 p5,1480,hare 2", "splits r4 p5,0,owl 3", "splits r4 p5,1710,owl 4", "splits r5 p5,1550,fox 5", "splits r6 p5,1900,owl 6", "splits r1 p10,1530,hare 7", "splits r2 p10,1590,fox 8", "splits r3 p10,1470,hare 9")
            .then("splits r1 p15,1540,hare 20", "splits r2 p15,1600,fox 21", "splits r3 p15,1460,hare 22", "splits r4 p10,1650,owl 23", "splits r5 p10,1580,fox 24", "splits r6 p10,1850,owl 25", "splits r7 p5,1700,elk 26");
        pull("greenhouse_join_turned_round", "the sides of an un-named join of streams exchanged; a named count of its rows and an un-named reduce behind", FourthCraft.JoinTurnedRound::before, FourthCraft.JoinTurnedRound::after)
            .reads("readings", 1).reads("wishes", 1).writes("gaps", "zone-gaps", "warmest")
            .first("readings z1 s1,18 0", "wishes z1 kim,21 1", "readings z2 s2,25 2", "wishes z3 lee,19 3", "readings z4 s1,16 4", "wishes z5 max,22 5", "readings z6 s3,20 6", "wishes z6 kim,20 7")
            .then("wishes z2 lee,23 20", "readings z3 s2,17 21", "wishes z4 max,18 22", "readings z5 s3,24 23", "readings z1 s1,20 24", "wishes z6 lee,21 25", "readings z2 s2,24 60", "wishes z7 kim,15 61", "readings z7 s3,14 62");
    }

    static void operators() {
        pull("visa_embassies_counted", "an un-named count added between an un-named reduce and a named aggregate; an un-named windowed count behind a named grouping last", FourthCity.EmbassiesCounted::before, FourthCity.EmbassiesCounted::after)
            .reads("requests", 1).writes("person-days", "embassy-counts", "country-days", "embassy-minutes")
            .first("requests q1 oslo,10,norway 0", "requests q2 rome,5,italy 1", "requests q3 lima,30,peru 2", "requests q4 oslo,7,norway 3", "requests q5 rome,0,italy 4", "requests q6 quito,14,ecuador 5", "requests q5 rome,3,italy 6", "requests q1 lima,21,peru 7")
            .then("requests q1 rome,4,italy 20", "requests q2 oslo,8,norway 21", "requests q3 lima,9,peru 22", "requests q4 quito,2,ecuador 23", "requests q5 oslo,6,norway 24", "requests q6 rome,12,italy 25", "requests q7 lima,1,peru 26");
        pull("tolls_last_sums_removed", "the last part, an un-named aggregate, removed behind an un-named aggregate, a join with an un-named table and a named count, an un-named windowed count", FourthCity.LastSumsRemoved::before, FourthCity.LastSumsRemoved::after)
            .reads("passes", 1).reads("plates", 1).writes("plate-cents", "class-counts", "gate-minutes", "gate-cents")
            .first("plates k1 car 0", "plates k2 truck 0.1", "plates k3 car 0.2", "plates k4 bus 0.3", "plates k5 truck 0.4", "plates k6 bus 0.5",
                "passes k1 north,250 1", "passes k2 south,900 2", "passes k3 east,250 3", "passes k4 north,600 4", "passes k5 east,0 5", "passes k6 south,650 6", "passes k5 east,800 7", "passes k9 north,100 8")
            .then("passes k1 south,240 20", "passes k2 north,910 21", "passes k3 east,260 22", "passes k4 east,610 23", "passes k5 south,810 24", "passes k6 north,660 25", "passes k9 south,110 26");
        pull("blood_uses_cogrouped", "a named aggregate -> a cogroup with a second input in that store; an un-named count in front, a named aggregate and a named windowed count of the second input behind", FourthCraft.UsesCogrouped::before, FourthCraft.UsesCogrouped::after)
            .reads("donations", 1).reads("uses", 1).writes("donor-counts", "stock", "used", "ward-minutes")
            .first("donations d1 a,500 0", "donations d2 b,450 1", "donations d3 o,500 2", "donations d4 ab,400 3", "uses u1 a,200,east 4", "donations d5 a,500 5", "donations d6 o,480 6", "uses u2 b,100,west 7", "uses u3 o,300,east 8", "uses u4 ab,50,port 9", "uses u5 a,100,west 10", "uses u6 o,20,port 11")
            .then("uses u7 a,150,east 20", "donations d1 a,490 21", "uses u8 b,60,port 22", "donations d2 b,440 23", "uses u9 o,70,west 24", "donations d7 ab,410 25", "uses u1 ab,30,east 26", "donations d8 o,500 27");
        pull("lift_minutes_suppressed", "a named suppress until windows close between a named windowed count and a named reduce; an un-named count in front", FourthCity.MinutesSuppressed::before, FourthCity.MinutesSuppressed::after)
            .reads("rides", 1).writes("floor-counts", "lift-minutes", "busiest")
            .first("rides a f1,3 0", "rides b f2,1 5", "rides c f3,0 10", "rides c f3,4 12", "rides a f2,2 61", "rides d f1,5 62", "rides e f4,1 63", "rides f f2,2 64", "rides b f1,1 65", "rides a f3,6 66")
            .then("rides a f1,1 80", "rides b f4,2 85", "rides c f2,3 90", "rides d f1,1 121", "rides e f3,2 130", "rides a f2,4 131", "rides g f1,2 140", "rides f f4,1 190", "rides a f1,3 260");
        pull("certificates_repeats_dropped", "a named processor with a named store that drops known serials before a named count, a named aggregate and a named windowed count behind named groupings; an un-named count in front", FourthNet.RepeatsDropped::before, FourthNet.RepeatsDropped::after)
            .reads("renewals", 1).writes("host-counts", "issuer-counts", "host-serials", "issuer-minutes")
            .first("renewals h1 s1,east 0", "renewals h2 s2,west 1", "renewals h3 s3,east 2", "renewals h1 s1,east 3", "renewals h4 s4,north 4", "renewals h5 s5,west 5", "renewals h6 s6,north 6", "renewals h2 s2,west 7")
            .then("renewals h1 s1,east 20", "renewals h2 s7,east 21", "renewals h3 s3,east 22", "renewals h4 s8,west 23", "renewals h5 s5,west 24", "renewals h6 s9,north 25", "renewals h4 s8,west 26", "renewals h7 s10,west 27");
        pull("patents_offices_joined", "two named tables joined over a foreign key, its result named, a named count of its rows behind; an un-named count of one and a named aggregate of the other in front", FourthNet.OfficesJoined::before, FourthNet.OfficesJoined::after)
            .reads("patents", 1).reads("offices", 1).writes("kind-counts", "country-offices", "placed", "country-patents")
            .first("offices o1 spain 0", "offices o2 japan 0.1", "offices o3 spain 0.2", "patents p1 o1,pump 1", "patents p2 o2,lens 2", "patents p3 o3,gear 3", "patents p4 o1,lens 4", "patents p5 o4,pump 5", "patents p6 o2,gear 6")
            .then("patents p1 o2,pump 20", "patents p4 o1,gear 21", "patents p7 o3,lens 22", "patents p8 o2,pump 23", "patents p2 o5,lens 24", "offices o4 chile 40");
        pull("casino_sessions_for_hops", "hopping windows -> sessions for an un-named count; an un-named count in front, a named aggregate behind", FourthNet.SessionsForHops::before, FourthNet.SessionsForHops::after)
            .reads("bets", 1).writes("game-counts", "bouts", "game-cents")
            .first("bets p1 dice,100 0", "bets p2 poker,500 5", "bets p3 dice,50 10", "bets p4 craps,0 15", "bets p4 craps,200 20", "bets p5 poker,900 25", "bets p6 slots,10 35", "bets p1 slots,20 40")
            .then("bets p1 dice,60 50", "bets p2 poker,70 55", "bets p3 slots,80 60", "bets p4 dice,90 65", "bets p5 craps,15 75", "bets p6 poker,25 80", "bets p7 dice,35 95", "bets p1 slots,45 120");
        pull("quiz_sliding_for_tumbling", "tumbling -> sliding windows of the same width in a named store behind a named grouping; an un-named aggregate in front, an un-named count behind", FourthNet.SlidingForTumbling::before, FourthNet.SlidingForTumbling::after)
            .reads("answers", 1).writes("player-points", "team-minutes", "team-counts")
            .first("answers a1 red,3 0", "answers a2 blue,1 4", "answers a3 gold,0 9", "answers a4 red,2 14", "answers a5 mint,5 19", "answers a6 blue,2 24", "answers a7 plum,-1 26", "answers a7 plum,4 29", "answers a8 teal,2 34")
            .then("answers a1 red,1 44", "answers a2 blue,3 49", "answers a3 gold,2 54", "answers a4 mint,1 58", "answers a5 plum,2 65", "answers a6 teal,4 70", "answers a7 red,3 80", "answers a9 gold,1 130");
    }

    static void settings() {
        pull("oncall_at_least_once", "processing.guarantee: exactly_once_v2 -> at_least_once for an un-named reduce, an un-named aggregate and a named windowed count", FourthNet.AtLeastOnce::build, FourthNet.AtLeastOnce::build)
            .was("processing.guarantee", "exactly_once_v2").now("processing.guarantee", "at_least_once").reads("pages", 2).writes("engineer-services", "service-minutes", "service-windows")
            .first("pages ann mail,5 0", "pages bob web,20 1", "pages cid db,0 2", "pages cid db,45 3", "pages dan mail,8 4", "pages eve disk,12 5", "pages fay web,30 6", "pages ann db,3 7")
            .then("pages ann web,6 20", "pages bob mail,11 21", "pages cid disk,9 22", "pages dan db,2 23", "pages eve web,14 24", "pages fay mail,7 25", "pages gus disk,1 26");
        pull("dns_source_topics_reused", "topology.optimization: none -> reuse.ktable.source.topics for an un-named and a named table, joins with both, an un-named count and a named aggregate", FourthNet.SourceTopicsReused::build, FourthNet.SourceTopicsReused::build)
            .was("topology.optimization", "none").now("topology.optimization", "reuse.ktable.source.topics").reads("queries", 1).reads("hosts", 1).reads("zones", 1).writes("owner-counts", "registrar-time")
            .first("hosts h1 ops 0", "hosts h2 dev 0.1", "hosts h3 ops 0.2", "hosts h4 lab 0.3", "hosts h5 dev 0.4", "hosts h6 lab 0.5", "zones org alpha 0.6", "zones net beta 0.7", "zones com alpha 0.8", "zones edu gamma 0.9",
                "queries h1 org,12 1", "queries h2 net,30 2", "queries h3 com,8 3", "queries h4 edu,50 4", "queries h5 org,16 5", "queries h6 net,22 6", "queries h7 com,5 7")
            .then("queries h1 net,10 20", "queries h2 com,20 21", "queries h3 edu,40 22", "queries h4 org,6 23", "queries h5 net,18 24", "queries h6 org,9 25", "queries h7 edu,3 26");
        pull("translation_classic_protocol", "group.protocol: streams -> classic for an un-named aggregate, a named count and an un-named windowed count", FourthNet.ClassicProtocol::build, FourthNet.ClassicProtocol::build)
            .was("group.protocol", "streams").now("group.protocol", "classic").reads("jobs", 2).writes("job-words", "language-counts", "language-minutes")
            .first("jobs j1 greek,400 0", "jobs j2 welsh,90 1", "jobs j3 czech,0 2", "jobs j3 czech,1200 3", "jobs j4 greek,300 4", "jobs j5 tamil,50 5", "jobs j6 welsh,700 6", "jobs j1 greek,20 7")
            .then("jobs j1 greek,10 20", "jobs j2 czech,80 21", "jobs j3 tamil,60 22", "jobs j4 welsh,500 23", "jobs j5 greek,40 24", "jobs j6 czech,30 25", "jobs j7 tamil,25 26");
        pull("moderation_broken_skipped", "processing.exception.handler: none -> the one that logs and continues for an un-named count, a named aggregate that fails for a broken row, an un-named windowed count", FourthNet.BrokenSkipped::build, FourthNet.BrokenSkipped::build)
            .now("processing.exception.handler", "org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler").reads("posts", 1).writes("person-counts", "room-scores", "room-minutes")
            .first("posts m1 news,5 0", "posts m2 pets,3 1", "posts m3 news,2 2", "posts m4 cars,8 3", "posts m5 pets,1 4", "posts m6 food,4 5", "posts m1 cars,6 6")
            .then("posts m1 news,1 20", "posts m2 food,2 21", "posts m3 pets,bad 22", "posts m4 news,7 23", "posts m5 cars,3 24", "posts m6 pets,9 25", "posts m7 food,5 26");
        pull("wine_in_memory_by_setting", "dsl.store.suppliers.class: none -> in memory for an un-named aggregate, a join with an un-named table and a named count, an un-named windowed count", FourthCraft.InMemoryBySetting::build, FourthCraft.InMemoryBySetting::build)
            .now("dsl.store.suppliers.class", "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers").reads("bottles", 1).reads("cellars", 1).writes("grape-cents", "keeper-counts", "bottle-minutes")
            .first("cellars deep ann 0", "cellars arch bob 0.1", "cellars tower ann 0.2", "cellars mill cid 0.3", "bottles b1 deep,syrah,900 1", "bottles b2 arch,merlot,1200 2", "bottles b3 tower,syrah,700 3", "bottles b4 mill,gamay,0 4", "bottles b4 mill,gamay,300 5", "bottles b5 deep,merlot,1500 6", "bottles b6 attic,gamay,50 7")
            .then("bottles b1 arch,syrah,10 20", "bottles b2 deep,gamay,20 21", "bottles b3 mill,merlot,30 22", "bottles b4 tower,syrah,40 23", "bottles b5 arch,gamay,50 24", "bottles b6 deep,merlot,60 25", "bottles b7 mill,syrah,70 26");
    }

    static void topics() {
        pull("seeds_repartition_for_own_topic", "to() and stream() of a topic of its own -> repartition() of that name before an un-named aggregate, a join with a named table and a named count; a named windowed count behind", FourthCraft.RepartitionForOwnTopic::before, FourthCraft.RepartitionForOwnTopic::after)
            .reads("lots", 1).reads("species", 1).reads("lots-by-species", 1).writes("species-grams", "family-counts", "lot-minutes")
            .first("species rye grass 0", "species oat grass 0.1", "species pea bean 0.2", "species lupin bean 0.3", "species flax flax 0.4", "species dill herb 0.5",
                "lots s1 rye,300 1", "lots s2 oat,200 2", "lots s3 pea,150 3", "lots s4 lupin,0 4", "lots s4 lupin,80 5", "lots s5 flax,60 6", "lots s6 dill,20 7", "lots s1 oat,40 8")
            .then("lots s1 rye,10 20", "lots s2 oat,20 21", "lots s3 lupin,30 22", "lots s4 pea,40 23", "lots s5 dill,50 24", "lots s6 flax,60 25", "lots s7 rye,70 26");
        pull("choir_outputs_by_region", "one output -> one for each region, chosen for each row; an un-named count, an un-named reduce and a named windowed count behind", FourthCraft.OutputsByRegion::before, FourthCraft.OutputsByRegion::after)
            .reads("signups", 1).writes("singers", "singers-north", "singers-south", "singers-coast", "voice-counts", "singer-regions", "region-minutes")
            .first("signups ann North,alto 0", "signups bob south,bass 1", "signups cid NORTH,tenor 2", "signups dan coast,bass 3", "signups eve south,Alto 4", "signups fay nothing 5", "signups fay coast,soprano 6", "signups ann south,alto 7")
            .then("signups ann coast,alto 20", "signups bob North,bass 21", "signups cid south,tenor 22", "signups dan coast,tenor 23", "signups eve north,alto 24", "signups fay SOUTH,soprano 25", "signups gus coast,bass 26");
        pull("archive_wider_requests", "an input: 2 -> 4 partitions before repartition() to 2, a named count, a join with a named table and an un-named aggregate, an un-named windowed count", FourthCity.WiderRequests::build, FourthCity.WiderRequests::build)
            .reads("requests", 2).reads("shelves", 2).laterReads("requests", 4).writes("shelf-counts", "floor-days", "shelf-minutes")
            .first("shelves maps f1 0", "shelves laws f2 0.1", "shelves news f1 0.2", "shelves maritime f3 0.3", "shelves births f2 0.4", "shelves court f3 0.5",
                "requests r1 maps,3 1", "requests r2 laws,14 2", "requests r3 news,1 3", "requests r4 maritime,7 4", "requests r5 births,0 5", "requests r5 births,5 6", "requests r6 court,2 7", "requests r1 laws,4 8")
            .then("requests r1 news,2 20", "requests r2 maps,9 21", "requests r3 court,3 22", "requests r4 laws,6 23", "requests r5 maritime,1 24", "requests r6 births,8 25", "requests r7 maps,5 26");
    }

    static void processors() {
        pull("kennel_stays_forgotten", "a processor with a named store gets a punctuator that deletes what is older than a minute; an un-named count in front, a named reduce and an un-named windowed count behind", FourthCity.StaysForgotten::before, FourthCity.StaysForgotten::after)
            .reads("stays", 1).writes("kennel-counts", "dog-nights", "longest", "dog-minutes")
            .first("stays rex oak,2 0", "stays mia elm,1 1", "stays tom oak,5 2", "stays kim fir,0 3", "stays kim fir,3 4", "stays leo elm,4 5", "stays ida fir,2 6", "stays rex elm,1 7")
            .then("stays rex oak,3 20", "stays mia elm,2 50", "stays tom fir,1 66", "stays kim oak,4 95", "stays leo elm,2 96", "stays ida fir,6 130", "stays rex oak,1 131", "stays mia fir,2 132", "stays zoe elm,1 170");
        pull("bees_processor_split", "a processor of values with two named stores -> two, each with one of them, and a merge; an un-named count in front, a named aggregate and a named count behind", FourthCraft.ProcessorSplit::before, FourthCraft.ProcessorSplit::after)
            .reads("hives", 1).writes("site-counts", "changes", "kind-sums", "losses")
            .first("hives h1 30,34,wood 0", "hives h2 25,35,lake 1", "hives h3 41,33,wood 2", "hives h4 18,36,road 3", "hives h5 29,34,lake 4", "hives h6 35,35,road 5", "hives h1 31,33,wood 6")
            .then("hives h1 29,35,wood 20", "hives h2 26,34,lake 21", "hives h3 40,33,wood 22", "hives h4 19,35,road 23", "hives h5 22,36,lake 24", "hives h6 36,34,road 25", "hives h7 20,33,wood 26", "hives h7 21,32,wood 27");
        pull("solar_limit_from_table", "a processor of values is connected to a named table's store, too, whose part stood alone; an un-named count in front, an un-named reduce behind a named grouping", FourthCraft.LimitFromTable::before, FourthCraft.LimitFromTable::after)
            .reads("watts", 1).reads("limits", 1).writes("limit-rows", "roof-counts", "peaks", "roof-peaks")
            .first("limits p1 300 0", "limits p2 280 0.1", "limits p3 310 0.2", "limits p4 250 0.3", "limits p5 300 0.4", "limits p6 260 0.5", "watts p1 barn,200 1", "watts p2 barn,290 2", "watts p3 shed,150 3", "watts p4 shed,240 4", "watts p5 hall,100 5", "watts p6 hall,270 6", "watts p1 barn,220 7")
            .then("limits p5 120 19", "watts p1 barn,320 20", "watts p2 barn,250 21", "watts p3 shed,305 22", "watts p4 shed,255 23", "watts p5 hall,130 24", "watts p6 hall,275 25", "watts p7 hall,90 26");
    }

    static {
        refactorings();
        logic();
        operators();
        settings();
        topics();
        processors();
    }
}
