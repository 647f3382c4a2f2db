/**
 * A third list of changes as pull requests make them, of other trades than PullCases and LaterCases; nothing here says how they end.
 *
 * Each names the class with the code of both versions, as there; PullApplication runs either.
 */
final class ThirdCases {
    private ThirdCases() { }

    /** Adds them to Cases.ALL. */
    static void load() { }

    static Case pull(String name, String change, Case.Build before, Case.Build after) { return Cases.add(name, change, before, after).ownTopics(); }

    static void refactorings() {
        pull("restaurant_kitchen_methods", "lambdas -> method references, parts in methods of their own, one of which has the un-named table; a named aggregate, join and windowed count", ThirdTown.KitchenMethods::before, ThirdTown.KitchenMethods::after)
            .reads("orders", 1).reads("dishes", 1).writes("bills", "course-minutes")
            .first("dishes soup starter 0", "dishes stew main 0.1", "dishes rice main 0.2", "dishes cake dessert 0.3", "dishes salad starter 0.4", "dishes plum dessert 0.5",
                "orders o1 t1,soup,400 1", "orders o2 t2,stew,900 2", "orders o3 t3,rice,700 3", "orders o4 t4,cake,300 4", "orders o5 broken 5", "orders o6 t5,salad,350 6", "orders o7 t6,plum,250 7", "orders o8 t1,stew,900 8")
            .then("orders o9 t1,cake,300 20", "orders o10 t2,plum,250 21", "dishes tea drink 22", "orders o11 t3,soup,400 23", "orders o12 t4,stew,900 24", "orders o13 t5,rice,700 25", "orders o14 t6,salad,350 26", "orders o15 t7,tea,200 27");
        pull("parking_entries_mapped_once", "two mapValues merged into one before a named aggregate, a join with an un-named table and a named reduce; an un-named count in front", ThirdTown.EntriesMappedOnce::before, ThirdTown.EntriesMappedOnce::after)
            .reads("entries", 1).reads("garages", 1).writes("car-counts", "garage-minutes", "fullest")
            .first("garages north old 0", "garages south old 0.1", "garages east new 0.2", "garages west new 0.3", "garages dome mid 0.4", "garages port mid 0.5",
                "entries c1 North,2 1", "entries c2 SOUTH,1 2", "entries c3 east,3 3", "entries c4 West,1 4", "entries c5 dome,4 5", "entries c6 port,2 6", "entries c1 south,5 7")
            .then("entries c1 north,1 20", "entries c2 South,2 21", "entries c3 East,6 22", "entries c4 west,1 23", "entries c5 Dome,1 24", "entries c6 port,1 25", "entries c7 North,9 26");
        pull("court_hearings_by_processor", "a named aggregate -> a processor with a timestamped store of that name; an un-named count and an un-named windowed count in front", ThirdTown.HearingsByProcessor::before, ThirdTown.HearingsByProcessor::after)
            .reads("hearings", 2).writes("court-counts", "judge-minutes", "judges")
            .first("hearings h1 c1,ann 0", "hearings h2 c2,bob 1", "hearings h3 c1,cid 2", "hearings h4 c3,dan 3", "hearings h5 c2,eve 4", "hearings h6 c3,fay 5", "hearings h1 c1,bob 6", "hearings h2 c2,ann 7")
            .then("hearings h1 c1,cid 20", "hearings h2 c2,dan 21", "hearings h3 c1,eve 22", "hearings h4 c3,fay 23", "hearings h5 c2,ann 24", "hearings h6 c3,bob 25", "hearings h7 c4,gus 26");
        pull("museum_visits_by_processor", "a named grouping and aggregate -> repartition() of that name and a processor with a plain store of that name; a named join and a named count behind", ThirdTown.VisitsByProcessor::before, ThirdTown.VisitsByProcessor::after)
            .reads("visits", 2).reads("rooms", 2).writes("room-minutes", "floor-changes")
            .first("rooms r1 f1 0", "rooms r2 f1 0.1", "rooms r3 f2 0.2", "rooms r4 f2 0.3", "rooms r5 f3 0.4", "rooms r6 f3 0.5",
                "visits v1 r1,10 1", "visits v2 r2,5 2", "visits v3 r3,20 3", "visits v4 r4,7 4", "visits v5 r5,30 5", "visits v6 r6,2 6", "visits v1 r1,4 7")
            .then("visits v7 r1,1 20", "visits v8 r2,2 21", "visits v9 r3,3 22", "visits v1 r4,4 23", "visits v2 r5,5 24", "visits v3 r6,6 25", "visits v4 r7,7 26");
        pull("fire_parts_in_other_order", "three independent parts declared in the opposite order: a count of another key, a join with a table and a reduce, a windowed count, all stores named and no grouping", ThirdTown.PartsInOtherOrder::before, ThirdTown.PartsInOtherOrder::after)
            .reads("alarms", 2).reads("engines", 1).reads("trips", 1).reads("drills", 1).writes("district-alarms", "station-trips", "drill-minutes")
            .first("engines e1 s1 0", "engines e2 s2 0.1", "engines e3 s3 0.2", "alarms a1 d1,fire 1", "trips e1 a1 2", "drills b1 ladder 3", "alarms a2 d2,gas 4", "trips e2 a2 5", "drills b2 hose 6",
                "alarms a3 d3,cat 7", "alarms a4 d4,fire 8", "alarms a5 d5,fire 9", "alarms a6 d6,gas 10", "trips e3 a6 11", "drills b3 hose 12", "drills b4 pump 13", "drills b5 pump 14", "drills b6 pump 15")
            .then("alarms a7 d1,gas 20", "alarms a8 d2,fire 21", "alarms a9 d3,fire 22", "alarms a1 d4,cat 23", "alarms a2 d5,gas 24", "alarms a3 d6,gas 25", "trips e1 a7 26", "trips e2 a8 27", "trips e3 a9 28", "drills b1 hose 29",
                "drills b2 pump 30", "drills b3 ladder 31", "drills b4 hose 32", "drills b5 hose 33", "drills b6 hose 34");
        pull("election_split_by_kind", "two filters -> split().branch() before a named count, a named aggregate and a named windowed count; an un-named count in front", ThirdTown.SplitByKind::before, ThirdTown.SplitByKind::after)
            .reads("votes", 2).writes("turnout", "mail-counts", "voters", "booth-minutes")
            .first("votes v1 d1,red,mail 0", "votes v2 d2,blue,booth 1", "votes v3 d3,red,booth 2", "votes v4 d1,green,mail 3", "votes v5 d2,blue,void 4", "votes v6 d3,green,booth 5", "votes v7 d1,red,booth 6", "votes v8 d2,blue,mail 7")
            .then("votes v1 d1,red,mail 20", "votes v2 d2,blue,booth 21", "votes v3 d3,green,booth 22", "votes v4 d1,blue,mail 23", "votes v5 d2,red,mail 24", "votes v6 d3,red,booth 25", "votes v7 d1,green,void 26", "votes v9 d4,blue,booth 27");
        pull("observatory_steps_named", "names given to sources, filter, mapValues, selectKey, aggregates and a join behind another key; groupings and stores stay un-named", ThirdWild.StepsNamed::before, ThirdWild.StepsNamed::after)
            .reads("sightings", 1).reads("stars", 1).writes("telescope-counts", "brightest", "constellation-counts")
            .first("stars vega lyra 0", "stars deneb swan 0.1", "stars rigel orion 0.2", "stars betel orion 0.3", "stars altair eagle 0.4", "stars mizar bear 0.5",
                "sightings t1 Vega,3 1", "sightings t2 deneb,5 2", "sightings t3 RIGEL,2 3", "sightings t4 betel,7 4", "sightings t5 altair,1 5", "sightings t6 mizar,4 6", "sightings t1 cloud 7")
            .then("sightings t1 vega,1 20", "sightings t2 Deneb,9 21", "sightings t3 rigel,1 22", "sightings t4 Betel,2 23", "sightings t5 altair,8 24", "sightings t6 mizar,2 25", "sightings t7 vega,2 26");
        pull("brewery_group_by_for_map", "map and groupByKey -> groupBy before an un-named aggregate; an un-named windowed count and an un-named count behind", ThirdWork.GroupByForMap::before, ThirdWork.GroupByForMap::after)
            .reads("brews", 1).writes("beer-litres", "vat-minutes", "size-counts")
            .first("brews v1 pils,500 0", "brews v2 porter,9000 1", "brews v3 stout,300 2", "brews v4 wheat,12000 3", "brews v5 ale,50 4", "brews v6 bock,0 5", "brews v6 bock,700 6", "brews v1 ale,80 7")
            .then("brews v1 pils,100 20", "brews v2 porter,1000 21", "brews v3 stout,30 22", "brews v4 wheat,20000 23", "brews v5 ale,5 24", "brews v6 bock,70 25", "brews v7 cider,1 26");
        pull("job_key_selected_once", "two selectKey behind a filter and a mapValues -> one in front of both; a named aggregate, an un-named windowed count, a named count", ThirdWork.KeySelectedOnce::before, ThirdWork.KeySelectedOnce::after)
            .reads("letters", 1).writes("job-points", "job-minutes", "city-counts")
            .first("letters c1 cook,bonn,5 0", "letters c2 nurse,ulm,7 1", "letters c3 clerk,kiel,0 2", "letters c4 smith,jena,3 3", "letters c5 baker,bonn,9 4", "letters c6 pilot,ulm,8 5", "letters c1 nurse,bonn,2 6")
            .then("letters c1 cook,bonn,1 20", "letters c2 nurse,kiel,1 21", "letters c3 clerk,ulm,4 22", "letters c4 smith,jena,1 23", "letters c5 baker,ulm,0 24", "letters c6 pilot,bonn,1 25", "letters c7 cook,graz,6 26");
    }

    static void logic() {
        pull("charity_small_donors_dropped", "filter of a named aggregate's table before a named count of another key; an un-named windowed count in front", ThirdWork.SmallDonorsDropped::before, ThirdWork.SmallDonorsDropped::after)
            .reads("gifts", 1).writes("city-minutes", "donors", "city-donors")
            .first("gifts d1 bonn,20 0", "gifts d2 bonn,80 1", "gifts d3 ulm,10 2", "gifts d4 ulm,60 3", "gifts d5 kiel,30 4", "gifts d6 kiel,90 5")
            .then("gifts d1 bonn,40 20", "gifts d2 bonn,5 21", "gifts d3 ulm,10 22", "gifts d4 ulm,1 23", "gifts d5 kiel,30 24", "gifts d6 kiel,2 25", "gifts d7 bonn,10 26", "gifts d8 ulm,70 27");
        pull("callcentre_three_minutes", "the size of named windows behind another key: 1 -> 3 minutes; an un-named aggregate in front, an un-named reduce behind", ThirdWork.ThreeMinutes::before, ThirdWork.ThreeMinutes::after)
            .reads("calls", 1).writes("caller-seconds", "team-counts", "longest")
            .first("calls c1 sales,60 0", "calls c2 help,90 10", "calls c3 sales,20 70", "calls c4 bills,45 80", "calls c5 help,300 130", "calls c6 bills,15 140", "calls c1 sales,5 200", "calls c2 help,8 205", "calls c3 bills,6 250", "calls c4 sales,2 255")
            .then("calls c1 sales,30 260", "calls c2 help,10 270", "calls c3 sales,40 290", "calls c4 bills,80 301", "calls c5 help,7 320", "calls c6 bills,9 400", "calls c7 sales,70 410");
        pull("auction_lots_in_lower_case", "the key of an un-named reduce: as it comes -> in lower case; an un-named count, a join with a named table and a named count behind", ThirdWork.LotsInLowerCase::before, ThirdWork.LotsInLowerCase::after)
            .reads("bids", 1).reads("lots", 1).writes("best-bids", "bidder-counts", "house-changes")
            .first("lots a1 east 0", "lots B2 west 0.1", "lots b2 west 0.2", "lots c3 east 0.3", "lots D4 west 0.4", "lots d4 west 0.5", "bids p1 a1,100 1", "bids p2 B2,300 2", "bids p3 c3,50 3", "bids p4 D4,900 4", "bids p5 e5,10 5", "bids p6 F6,40 6", "bids p1 B2,350 7")
            .then("bids p1 a1,120 20", "bids p2 B2,200 21", "bids p3 c3,70 22", "bids p4 D4,800 23", "bids p5 e5,5 24", "bids p6 F6,45 25", "bids p7 b2,360 26");
        pull("mine_loads_with_number", "a named aggregate's text: the sum -> the sum and the number; an un-named count in front, an un-named windowed count behind", ThirdWork.LoadsWithNumber::before, ThirdWork.LoadsWithNumber::after)
            .reads("carts", 1).writes("cart-counts", "shaft-loads", "shaft-minutes")
            .first("carts c1 s1,400 0", "carts c2 s2,300 1", "carts c3 s3,250 2", "carts c4 s4,500 3", "carts c5 s5,350 4", "carts c6 s6,450 5", "carts c1 s2,100 6")
            .then("carts c7 s7,90 19", "carts c1 s1,410 20", "carts c2 s2,310 21", "carts c3 s3,260 22", "carts c4 s4,510 23", "carts c5 s5,360 24", "carts c6 s6,460 25");
    }

    static void operators() {
        pull("estate_agents_no_longer_counted", "an un-named count removed in front of a named reduce, a named join with an un-named table and a named count, a named windowed count", ThirdWork.AgentsNoLongerCounted::before, ThirdWork.AgentsNoLongerCounted::after)
            .reads("viewings", 1).reads("houses", 1).writes("agent-counts", "house-agents", "street-counts", "client-minutes")
            .first("houses h1 elm 0", "houses h2 oak 0.1", "houses h3 elm 0.2", "houses h4 ash 0.3", "houses h5 oak 0.4", "houses h6 fir 0.5", "viewings c1 h1,ann 1", "viewings c2 h2,bob 2", "viewings c3 h3,ann 3", "viewings c4 h4,cid 4",
                "viewings c5 h5,bob 5", "viewings c6 h6,cid 6", "viewings c1 h2,bob 7")
            .then("viewings c1 h3,ann 20", "viewings c2 h4,cid 21", "viewings c3 h5,bob 22", "viewings c4 h6,cid 23", "viewings c5 h1,ann 24", "viewings c6 h2,bob 25", "viewings c7 h1,dan 26");
        pull("build_join_kept", "an un-named join of named tables gets a store of its own; an un-named count and a named aggregate of its rows behind", ThirdWork.JoinKept::before, ThirdWork.JoinKept::after)
            .reads("builds", 1).reads("owners", 1).writes("projects", "state-counts", "teams")
            .first("owners p1 core 0", "owners p2 web 0.1", "owners p3 core 0.2", "owners p4 apps 0.3", "owners p5 web 0.4", "owners p6 apps 0.5", "builds p1 ok,60 1", "builds p2 bad,30 2", "builds p3 ok,90 3", "builds p4 ok,20 4", "builds p5 bad,10 5",
                "builds p6 ok,15 6", "builds p7 ok,5 7")
            .then("builds p1 bad,61 20", "builds p2 ok,31 21", "builds p3 ok,91 22", "owners p4 web 23", "owners p7 core 24", "builds p5 bad,11 25", "builds p6 bad,16 26", "builds p8 ok,1 27", "owners p1 apps 28");
        pull("satellite_answered_only", "leftJoin -> join of streams with a named store, a named count behind, another named count", ThirdWild.AnsweredOnly::before, ThirdWild.AnsweredOnly::after)
            .reads("commands", 1).reads("answers", 1).writes("answered", "satellite-answers", "kind-counts")
            .first("commands k1 s1,turn 0", "commands k2 s2,boost 1", "answers k1 done 2", "commands k3 s3,sleep 3", "commands k4 s1,boost 4", "answers k3 done 5", "commands k5 s2,turn 6", "commands k6 s3,turn 7", "answers k6 fail 8")
            .then("answers k2 done 20", "commands k7 s1,wake 21", "commands k1 s2,turn 22", "answers k4 late 60", "answers k7 done 61", "commands k5 s2,turn 62", "answers k5 done 63", "commands k8 s3,wake 120", "answers k8 done 121", "commands k9 s1,turn 200", "commands k3 s3,sleep 260", "answers k3 done 261");
        pull("harbour_berths_suppressed", "a named suppress with a time limit between a named aggregate and a named count of its table; an un-named count in front", ThirdWild.BerthsSuppressed::before, ThirdWild.BerthsSuppressed::after)
            .reads("arrivals", 1).writes("ship-counts", "berth-tons", "sizes")
            .first("arrivals s1 b1,50 0", "arrivals s2 b2,120 1", "arrivals s3 b3,30 2", "arrivals s4 b4,80 3", "arrivals s5 b5,200 4", "arrivals s6 b6,10 5", "arrivals s1 b1,20 6", "arrivals s7 b7,5 25", "arrivals s7 b7,5 45")
            .then("arrivals s1 b1,60 60", "arrivals s2 b2,10 61", "arrivals s3 b3,5 62", "arrivals s4 b4,40 63", "arrivals s5 b5,1 64", "arrivals s6 b6,95 65", "arrivals s8 b8,300 66", "arrivals s7 b7,5 90", "arrivals s7 b7,5 120");
        pull("forest_known_for_minutes", "the named store of a named processor that drops repeated alarms: keys and values -> windows of five minutes, same name; an un-named count, a named count and an un-named windowed count behind", ThirdWild.KnownForMinutes::before, ThirdWild.KnownForMinutes::after)
            .reads("alarms", 1).writes("sensor-counts", "area-counts", "area-minutes")
            .first("alarms s1 a1,north 0", "alarms s2 a2,north 1", "alarms s3 a3,south 2", "alarms s4 a4,south 3", "alarms s5 a5,hill 4", "alarms s6 a6,hill 5", "alarms s1 a1,north 6", "alarms s2 a7,north 7")
            .then("alarms s1 a1,north 20", "alarms s2 a2,north 21", "alarms s3 a8,south 22", "alarms s4 a4,south 23", "alarms s5 a9,hill 24", "alarms s6 a6,hill 25", "alarms s7 a10,north 26", "alarms s7 a10,north 27");
        pull("fishery_quotas_kept", "an un-named global table gets a store's name; a named aggregate and a named windowed count of its join behind, an un-named aggregate in front", ThirdWild.QuotasKept::before, ThirdWild.QuotasKept::after)
            .reads("catches", 2).reads("quotas", 1).writes("boat-kilos", "catches-with-quota", "fish-kilos", "fish-minutes")
            .first("quotas cod 500 0", "quotas eel 50 0.1", "quotas tuna 900 0.2", "quotas hake 300 0.3", "quotas sole 80 0.4", "quotas bass 120 0.5", "catches b1 cod,100 1", "catches b2 eel,5 2", "catches b3 tuna,300 3", "catches b4 hake,60 4",
                "catches b5 sole,10 5", "catches b6 bass,20 6", "catches b1 eel,7 7")
            .then("catches b1 cod,50 20", "catches b2 eel,6 21", "catches b3 tuna,100 22", "catches b4 hake,40 23", "catches b5 sole,0 24", "catches b6 bass,30 25", "catches b7 cod,80 26", "catches b5 sole,9 27");
        pull("railway_lines_unknown_too", "join -> leftJoin of named tables over a foreign key, its result and the join named; a named count of its rows and an un-named count behind", ThirdWild.LinesUnknownToo::before, ThirdWild.LinesUnknownToo::after)
            .reads("trains", 1).reads("lines", 1).writes("placed", "region-counts", "delays")
            .first("lines l1 north 0", "lines l2 south 0.1", "lines l3 north 0.2", "trains t1 l1,0 1", "trains t2 l2,9 2", "trains t3 l3,3 3", "trains t4 l4,12 4", "trains t5 l5,1 5", "trains t6 l1,7 6", "trains t7 l4,2 7")
            .then("trains t1 l1,8 20", "trains t2 l2,1 21", "trains t3 l2,4 22", "trains t10 l3,0 23", "trains t6 l5,0 24", "trains t8 l6,30 25", "lines l4 south 40", "trains t9 l1,0 41");
        pull("theatre_evenings_for_minutes", "a cogroup's windows -> sessions, its store renamed; an un-named count and a named count behind", ThirdTown.EveningsForMinutes::before, ThirdTown.EveningsForMinutes::after)
            .reads("seats", 1).reads("snacks", 1).writes("spent", "hall-counts", "snack-counts")
            .first("seats v1 blue,90 0", "seats v2 red,70 1", "snacks v1 nuts,5 2", "seats v3 blue,80 3", "snacks v3 cola,4 4", "seats v4 red,60 5", "seats v5 gold,120 6", "snacks v5 cake,8 7", "seats v6 gold,110 8")
            .then("snacks v1 cola,4 20", "snacks v2 nuts,5 21", "seats v7 blue,90 22", "snacks v3 cake,8 23", "snacks v4 nuts,5 24", "snacks v5 cola,4 25", "snacks v6 cake,8 26", "seats v1 red,70 100", "seats v2 gold,120 101");
    }

    static void settings() {
        pull("zoo_more_threads", "num.stream.threads: 1 -> 3, num.standby.replicas: 1, max.task.idle.ms: 100 for a join with an un-named table, an un-named aggregate, an un-named count and a named windowed count", ThirdWild.MoreThreads::build, ThirdWild.MoreThreads::build)
            .now("num.stream.threads", "3").now("num.standby.replicas", "1").now("max.task.idle.ms", "100").reads("meals", 2).reads("animals", 2).writes("animal-kilos", "house-meals", "keeper-minutes")
            .first("animals a1 ape 0", "animals a2 bear 0.1", "animals a3 cat 0.2", "animals a4 ape 0.3", "animals a5 bear 0.4", "animals a6 cat 0.5", "meals a1 kim,3 1", "meals a2 lee,20 2", "meals a3 max,8 3", "meals a4 kim,4 4", "meals a5 lee,18 5",
                "meals a6 max,9 6", "meals a1 max,2 7")
            .then("meals a1 kim,3 20", "meals a2 kim,19 21", "meals a3 lee,7 22", "meals a4 lee,4 23", "meals a5 max,16 24", "meals a6 kim,10 25", "meals a7 kim,1 26");
        pull("tax_returns_not_optimised", "topology.optimization: all -> none for an un-named table, a named count and an un-named aggregate of one key", ThirdTown.ReturnsNotOptimised::build, ThirdTown.ReturnsNotOptimised::build)
            .was("topology.optimization", "all").now("topology.optimization", "none").reads("returns", 1).reads("taxpayers", 1).writes("returns-with-group", "district-counts", "district-cents")
            .first("taxpayers t1 firm 0", "taxpayers t2 firm 0.1", "taxpayers t3 home 0.2", "taxpayers t4 home 0.3", "taxpayers t5 club 0.4", "taxpayers t6 club 0.5", "returns t1 d1,900 1", "returns t2 d2,700 2", "returns t3 d3,50 3", "returns t4 d4,60 4",
                "returns t5 d5,5 5", "returns t6 d6,8 6", "returns t1 d2,100 7")
            .then("returns t1 d1,800 20", "returns t2 d2,600 21", "returns t3 d3,40 22", "returns t4 d4,50 23", "returns t5 d5,4 24", "returns t6 d6,7 25", "returns t7 d1,1 26");
        pull("laundry_new_protocol", "group.protocol: classic -> streams for an un-named aggregate, an un-named count and a named windowed count", ThirdWork.WashesByNewProtocol::build, ThirdWork.WashesByNewProtocol::build)
            .now("group.protocol", "streams").reads("washes", 2).writes("machine-kilos", "hall-counts", "hall-minutes")
            .first("washes m1 h1,5 0", "washes m2 h2,7 1", "washes m3 h1,6 2", "washes m4 h3,0 3", "washes m5 h2,8 4", "washes m6 h3,4 5", "washes m1 h1,3 6", "washes m4 h3,2 7")
            .then("washes m1 h1,6 20", "washes m2 h2,5 21", "washes m3 h1,7 22", "washes m4 h3,1 23", "washes m5 h2,9 24", "washes m6 h3,3 25", "washes m7 h4,2 26");
    }

    static void topics() {
        pull("bakery_online_too", "a second input merged into the first before a named aggregate, an un-named reduce and a named windowed count", ThirdWork.OnlineToo::before, ThirdWork.OnlineToo::after)
            .reads("counter", 1).laterReads("online", 1).writes("cakes", "customers", "cake-minutes")
            .first("counter c1 plum,2 0", "counter c2 apple,1 1", "counter c3 nut,3 2", "counter c4 plum,1 3", "counter c5 cream,2 4", "counter c6 lemon,1 5", "counter c1 apple,4 6")
            .then("counter c1 plum,1 20", "online c2 apple,2 21", "counter c3 nut,1 22", "online c4 plum,5 23", "counter c5 cream,1 24", "online c6 lemon,2 25", "online c7 nut,6 26", "counter c2 lemon,1 27");
        pull("gym_wider_checkins", "the input of checkins: 2 -> 4 partitions, while that of the named table it is joined with keeps 2; a named aggregate and a named count behind", ThirdTown.WiderCheckins::build, ThirdTown.WiderCheckins::build)
            .reads("checkins", 2).reads("members", 2).laterReads("checkins", 4).writes("member-minutes", "plan-counts")
            .first("members m1 gold 0", "members m2 basic 0.1", "members m3 gold 0.2", "members m4 team 0.3", "members m5 basic 0.4", "members m6 team 0.5", "checkins m1 pool,40 1", "checkins m2 bikes,30 2", "checkins m3 ring,20 3", "checkins m4 pool,60 4",
                "checkins m5 bikes,15 5", "checkins m6 ring,25 6", "checkins m1 ring,10 7")
            .then("checkins m1 pool,20 20", "checkins m2 pool,10 21", "checkins m3 bikes,30 22", "checkins m4 ring,5 23", "checkins m5 ring,50 24", "checkins m6 pool,45 25");
    }

    static {
        refactorings();
        logic();
        operators();
        settings();
        topics();
    }
}
