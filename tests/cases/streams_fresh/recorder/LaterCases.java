/**
 * Further changes as pull requests make them, of other trades than PullCases; nothing here says how they end.
 *
 * Each names the class with the code of both versions, as there; PullApplication runs either.
 */
final class LaterCases {
    private LaterCases() { }

    /** Adds them to Cases.ALL. */
    static void load() { }

    static Case pull(String name, String change, Case.Build before, Case.Build after) { return Cases.add(name, change, before, after).ownTopics(); }

    static void hospitals() {
        pull("hospital_ward_methods", "lambdas -> method references, parts in methods of their own, peek behind the last of an un-named join, count and windowed count", LaterCare.MethodsOfWards::before, LaterCare.MethodsOfWards::after)
            .reads("admissions", 1).reads("wards", 1).writes("ward-counts", "floor-counts")
            .first("wards w1 ground 0", "wards w2 upper 0.2", "admissions p1 w1,40 1", "admissions p2 w2,7 2", "admissions p3 w1,81 3", "admissions p4 unknown 4")
            .then("admissions p5 w1,30 20", "admissions p6 w2,55 21", "wards w3 upper 22", "admissions p7 w3,1 23");
        pull("hospital_waiting_patients_too", "join -> leftJoin of un-named tables before an un-named count; an un-named aggregate behind", LaterCare.WaitingToo::before, LaterCare.WaitingToo::after)
            .reads("patients", 1).reads("beds", 1).writes("ward-counts", "floors")
            .first("patients p1 red,ann 0", "patients p2 red,bob 1", "beds p1 a1 2", "patients p3 blue,cid 3", "beds p3 b7 4")
            .then("patients p4 blue,dan 20", "beds p2 a2 21", "patients p2 blue,bob 22", "patients p5 red,eve 23", "beds p3 a9 24");
        pull("hospital_repeated_vitals_dropped", "a named processor with a named store and mapValues before an un-named table join, count and aggregate", LaterCare.RepeatedVitals::before, LaterCare.RepeatedVitals::after)
            .reads("vitals", 1).reads("rooms", 1).writes("vital-counts", "highest-pulses")
            .first("rooms p1 r1 0", "rooms p2 r2 0.5", "vitals p1 m1,80 1", "vitals p2 m2,95 2", "vitals p1 m3,120 3")
            .then("vitals p1 m4,70 20", "vitals p2 m2,95 21", "vitals p1 m4,70 22", "vitals p3 m5,60 23");
        pull("hospital_names_demanded", "ensure.explicit.internal.resource.naming: true, one windowed count has no store's name", LaterCare.NamesDemanded::build, LaterCare.NamesDemanded::build)
            .now("ensure.explicit.internal.resource.naming", "true").reads("shifts", 2).writes("nurse-hours", "ward-hours", "ward-minutes")
            .first("shifts n1 red,8 0", "shifts n2 blue,6 1", "shifts n1 blue,4 2", "shifts n3 red,0 3").then("shifts n1 red,2 20", "shifts n2 red,8 21", "shifts n3 blue,7 22");
    }

    static void schools() {
        pull("school_steps_named", "names given to sources, filters, mapValues, selectKey and aggregates; groupings and stores stay un-named", LaterCare.StepsNamed::before, LaterCare.StepsNamed::after)
            .reads("marks", 2).writes("class-counts", "best-marks")
            .first("marks p1 1A,Maths,9 0", "marks p2 1B,Latin,7 1", "marks p1 1A,Latin,8 2", "marks p3 1A,broken 3", "marks p3 1A,Maths,10 4")
            .then("marks p2 1B,Maths,5 20", "marks p1 1A,Latin,6 21", "marks p4 2C,Art,9 22", "marks p3 1A,Maths,3 23");
        pull("school_reports_suppressed", "un-named suppress behind the first of three un-named operators with stores", LaterCare.ReportsSuppressed::before, LaterCare.ReportsSuppressed::after)
            .reads("absences", 1).writes("class-minutes", "reason-counts", "reasons")
            .first("absences p1 1A,ill 0", "absences p2 1B,late 10", "absences p3 1A,ill 62", "absences p1 1A,late 64")
            .then("absences p2 1B,ill 70", "absences p1 1A,ill 75", "absences p4 2C,late 130", "absences p3 1A,late 200");
        pull("school_exactly_once", "processing.guarantee: at_least_once -> exactly_once_v2 for an un-named table join and two un-named counts", LaterCare.Canteen::build, LaterCare.Canteen::build)
            .now("processing.guarantee", "exactly_once_v2").reads("meals", 1).reads("classes", 1).writes("class-meals", "dish-counts")
            .first("classes p1 1A 0", "classes p2 1B 0.5", "meals p1 soup 1", "meals p2 rice 2", "meals p1 rice 3")
            .then("meals p1 soup 20", "classes p2 1A 21", "meals p2 soup 22", "meals p3 rice 23");
    }

    static void libraries() {
        pull("library_loans_mapped_once", "two mapValues merged into one before an un-named count and an un-named aggregate", LaterCare.LoansMappedOnce::before, LaterCare.LoansMappedOnce::after)
            .reads("loans", 1).writes("member-counts", "book-days")
            .first("loans l1 b1,Ann,14 0", "loans l2 b2,bob,7 1", "loans l3 b1,bob,3 2", "loans l4 b3,cid,? 3")
            .then("loans l5 b1,ann,10 20", "loans l6 b2,cid,1 21", "loans l7 b4,bob,5 22");
        pull("library_titles_of_copies", "an un-named foreign-key join of two un-named tables added between two un-named counts of them", LaterCare.TitlesOfCopies::before, LaterCare.TitlesOfCopies::after)
            .reads("holdings", 1).reads("books", 1).writes("author-counts", "shelf-counts", "titles")
            .first("books b1 kant,Critique 0", "books b2 hume,Enquiry 0.5", "holdings c1 b1,s1 1", "holdings c2 b1,s2 2", "holdings c3 b2,s1 3")
            .then("holdings c2 b1,s1 20", "books b2 hume,Treatise 21", "holdings c4 b2,s3 22", "books b3 kant,Religion 23");
        pull("library_catalogue_version_two", "an un-named table's input catalogue -> catalogue.v2, which gets all its rows again; a named count behind", LaterCare.CatalogueVersionTwo::before, LaterCare.CatalogueVersionTwo::after)
            .reads("loans", 1).reads("catalogue", 1).laterReads("catalogue.v2", 1).writes("loans-with-subject", "subject-counts")
            .first("catalogue b1 art 0", "catalogue b2 law 0.5", "loans b1 ann 1", "loans b2 bob 2", "loans b1 cid 3")
            .then("catalogue.v2 b1 art 15", "catalogue.v2 b2 law 15.5", "catalogue.v2 b3 art 16", "loans b1 bob 20", "loans b3 ann 21", "loans b2 cid 22");
    }

    static void insurers() {
        pull("insurance_map_by_processor", "map -> process with a stateless processor before an un-named reduce and an un-named windowed count", LaterCare.MapByProcessor::before, LaterCare.MapByProcessor::after)
            .reads("claims", 1).writes("policy-sums", "policy-minutes")
            .first("claims c1 p1,80 0", "claims c2 p2,300 1", "claims c3 p1,0 2", "claims c4 p1,20 3").then("claims c5 p1,5 20", "claims c6 p2,1 21", "claims c7 p3,40 22");
        pull("insurance_policies_global", "selectKey and join with a named table -> join with a global table of the same store's name; an un-named aggregate and a named count behind", LaterCare.PoliciesGlobal::before, LaterCare.PoliciesGlobal::after)
            .reads("damages", 2).reads("policies", 2).writes("region-sums", "region-counts")
            .first("policies p1 north 0", "policies p2 south 0.5", "damages d1 p1,100 1", "damages d2 p2,50 2", "damages d3 p1,7 3")
            .then("damages d4 p1,10 20", "damages d5 p2,5 21", "damages d6 p1,1 22");
    }

    static void farms() {
        pull("farm_branches_for_filters", "filter and filterNot -> split().branch() before an un-named windowed count and an un-named count", LaterLand.BranchesOfMilk::before, LaterLand.BranchesOfMilk::after)
            .reads("milkings", 1).writes("barn-litres", "good-minutes", "little-counts")
            .first("milkings c1 east,12 0", "milkings c2 west,8 1", "milkings c1 east,9 2", "milkings c3 west,15 3").then("milkings c1 east,7 20", "milkings c2 west,11 21", "milkings c3 west,14 22", "milkings c4 east,3 23");
        pull("farm_soil_more_partitions", "an input behind which an un-named reduce is re-keyed: 1 -> 3 partitions", LaterLand.WiderSoil::build, LaterLand.WiderSoil::build)
            .reads("soil", 1).laterReads("soil", 3).writes("driest", "orders")
            .first("soil s1 f1,30 0", "soil s2 f2,8 1", "soil s3 f1,25 2").then("soil s1 f1,27 20", "soil s4 f2,5 21", "soil s2 f3,50 22");
    }

    static void weather() {
        pull("weather_one_stream_for_all", "three streams of one topic -> one that an un-named aggregate, count and windowed count share", LaterLand.OneStreamForAll::before, LaterLand.OneStreamForAll::after)
            .reads("readings", 1).writes("warmest", "region-counts", "frost-minutes")
            .first("readings s1 alps,-3 0", "readings s2 coast,12 1", "readings s1 alps,4 2", "readings s3 alps,-9 3").then("readings s1 alps,1 20", "readings s2 coast,-2 21", "readings s3 alps,-5 22", "readings s4 coast,15 23");
        pull("weather_windows_shorter", "the size of un-named windows: 10 -> 5 minutes; an un-named count in front", LaterLand.ShorterWindow::before, LaterLand.ShorterWindow::after)
            .reads("gusts", 1).writes("mast-counts", "area-counts")
            .first("gusts m1 north,60 0", "gusts m2 north,70 200", "gusts m3 south,40 250", "gusts m3 south,90 310").then("gusts m1 north,65 320", "gusts m2 south,80 400", "gusts m1 north,99 610");
        pull("weather_station_repartitioned", "groupBy(Grouped) -> selectKey and repartition() of that name before a named aggregate; an un-named table join and reduce behind", LaterLand.StationRepartitioned::before, LaterLand.StationRepartitioned::after)
            .reads("rain", 2).reads("stations", 2).writes("station-sums", "wettest")
            .first("stations s1 alps 0", "stations s2 coast 0.5", "rain g1 s1,10 1", "rain g2 s2,4 2", "rain g3 s1,7 3").then("rain g1 s1,1 20", "rain g4 s2,2 21", "rain g2 s3,8 22", "rain g3 s1,3 23");
    }

    static void grids() {
        pull("grid_load_store_renamed", "a named store renamed, its grouping un-named, a table join and a named count behind", LaterLand.LoadStoreRenamed::before, LaterLand.LoadStoreRenamed::after)
            .reads("loads", 1).reads("limits", 1).writes("area-loads", "peak-counts")
            .first("limits a1 500 0", "limits a2 200 0.5", "loads s1 a1,90 1", "loads s2 a2,40 2", "loads s3 a1,30 3").then("loads s1 a1,10 20", "loads s2 a2,50 21", "limits a2 300 22", "loads s4 a3,120 23");
        pull("grid_faults_optimised", "topology.optimization: none -> all for two named groupings and a named join of one key and an un-named table", LaterLand.FaultsOptimised::build, LaterLand.FaultsOptimised::build)
            .was("topology.optimization", "none").now("topology.optimization", "all").reads("faults", 1).reads("areas", 1).writes("fault-counts", "fault-minutes", "operator-faults")
            .first("areas a1 volt 0", "areas a2 amp 0.5", "faults l1 a1,10 1", "faults l2 a2,5 2", "faults l3 a1,7 3").then("faults l1 a1,2 20", "faults l4 a2,9 21", "areas a3 volt 22", "faults l5 a3,1 23");
        pull("grid_dashboard_removed", "an un-named windowed count removed between un-named aggregates; a named count behind", LaterLand.DashboardRemoved::before, LaterLand.DashboardRemoved::after)
            .reads("meters", 1).writes("meter-watts", "tariff-minutes", "tariff-watts", "tariff-counts")
            .first("meters m1 green,100 0", "meters m2 basic,70 1", "meters m1 green,50 2").then("meters m1 green,7 20", "meters m3 basic,3 21", "meters m2 basic,1 22");
    }

    static void waterworks() {
        pull("water_gauges_by_pattern", "a list of two topics -> a pattern that finds a third, an un-named reduce and an un-named count behind", LaterLand.GaugesByPattern::before, LaterLand.GaugesByPattern::after)
            .reads("gauges-north", 1).reads("gauges-south", 1).laterReads("gauges-east", 1).writes("highest", "river-counts")
            .first("gauges-north g1 elbe,300 0", "gauges-south g2 isar,120 1", "gauges-north g3 elbe,310 2").then("gauges-north g1 elbe,280 20", "gauges-east g4 oder,90 21", "gauges-south g2 isar,150 22", "gauges-east g5 elbe,305 23");
    }

    static void news() {
        pull("news_feeds_declared_anew", "three streams declared and merged in another order before an un-named windowed count and an un-named reduce", LaterMedia.FeedsDeclaredAnew::before, LaterMedia.FeedsDeclaredAnew::after)
            .reads("wire", 1).reads("blogs", 1).reads("radio", 1).writes("section-minutes", "articles")
            .first("wire a1 sport,cup 0", "blogs a2 home,garden 1", "blogs a3 private,diary 2", "radio a4 sport,race 3").then("radio a4 sport,final 20", "wire a5 home,tax 21", "blogs a2 home,roof 22", "wire a1 sport,goal 23");
        pull("news_visits_longer_gap", "the gap of named session windows: 20 -> 45 seconds; an un-named count in front", LaterMedia.LongerGap::before, LaterMedia.LongerGap::after)
            .reads("views", 1).writes("section-counts", "visits")
            .first("views r1 sport,a1 0", "views r2 home,a2 5", "views r1 home,a3 10", "views r3 sport,a1 12").then("views r1 sport,a4 45", "views r2 home,a5 70", "views r3 sport,a6 50", "views r1 home,a7 75");
    }

    static void music() {
        pull("music_profiles_to_table", "table() -> stream().toTable() with the same store's name, an un-named count behind", LaterMedia.ProfilesToTable::before, LaterMedia.ProfilesToTable::after)
            .reads("plays", 1).reads("profiles", 1).writes("plays-with-country", "country-counts")
            .first("profiles l1 fr 0", "profiles l2 it 0.5", "plays l1 s1,200 1", "plays l2 s2,30 2", "plays l1 s2,180 3").then("plays l1 s3,90 20", "profiles l2 fr 21", "plays l2 s1,60 22", "plays l3 s1,5 23");
        pull("music_repeated_behind_song", "a named processor with a named store moved behind another key and a named repartition, before a named count", LaterMedia.RepeatedBehindSong::before, LaterMedia.RepeatedBehindSong::after)
            .reads("streams", 1).writes("song-counts")
            .first("streams l1 p1,s1 0", "streams l2 p2,s2 1", "streams l1 p3,s1 2", "streams l1 p1,s1 3").then("streams l2 p2,s2 20", "streams l1 p4,s1 21", "streams l3 p5,s2 22", "streams l1 p4,s1 23");
        pull("music_likes_cogrouped", "two named counts and their outer join -> a cogroup that keeps the name of one store", LaterMedia.LikesCogrouped::before, LaterMedia.LikesCogrouped::after)
            .reads("listens", 1).reads("likes", 1).writes("song-points")
            .first("listens s1 ann 0", "likes s1 ann 1", "listens s2 bob 2", "likes s3 cid 3", "listens s1 bob 4").then("listens s1 cid 20", "likes s2 bob 21", "listens s3 cid 22", "likes s1 dan 23");
        pull("music_default_value_serde", "default.value.serde: texts -> numbers; one grouping names its own, another follows mapValues", LaterMedia.ArtistsSummed::build, LaterMedia.ArtistsSummed::build)
            .now("default.value.serde", "org.apache.kafka.common.serialization.Serdes$LongSerde").reads("royalties", 1).writes("song-cents", "artist-cents")
            .first("royalties s1 abba,10 0", "royalties s2 queen,20 1", "royalties s1 abba,5 2").then("royalties s1 abba,7 20", "royalties s3 queen,1 21");
    }

    static void sports() {
        pull("sports_results_split", "an output split by league into two, before an un-named count and an un-named reduce", LaterMedia.ResultsSplit::before, LaterMedia.ResultsSplit::after)
            .reads("results", 1).writes("results-clean", "results-first", "results-other", "wins", "leagues")
            .first("results m1 first,kiel 0", "results m2 second,ulm 1", "results m3 first,bonn 2").then("results m4 first,kiel 20", "results m5 second,jena 21", "results m6 third,ulm 22");
        pull("sports_goals_outer_join", "join -> outerJoin of un-named streams before a named count and an un-named reduce", LaterMedia.GoalsOuterJoin::before, LaterMedia.GoalsOuterJoin::after)
            .reads("goals", 1).reads("reviews", 1).writes("team-goals", "verdicts")
            .first("goals g1 red,kim 0", "reviews g1 good 2", "goals g2 blue,lee 3", "goals g3 red,sam 4", "reviews g4 bad 5").then("reviews g2 good 20", "goals g4 blue,max 22", "reviews g3 bad 50", "goals g5 red,kim 60", "goals g6 blue,lee 120", "reviews g6 good 125");
        pull("sports_clubs_store_named", "an un-named table gets a store's name; an un-named aggregate and an un-named count behind", LaterMedia.ClubsStoreNamed::before, LaterMedia.ClubsStoreNamed::after)
            .reads("runs", 1).reads("clubs", 1).writes("club-points", "race-counts")
            .first("clubs r1 hares 0", "clubs r2 foxes 0.5", "runs r1 mile,10 1", "runs r2 mile,8 2", "runs r1 relay,3 3").then("runs r1 mile,5 20", "runs r2 relay,6 21", "clubs r3 hares 22", "runs r3 mile,1 23");
    }

    static void cinemas() {
        pull("cinema_seats_peeked", "peek in front of a re-keyed named join, a count and an aggregate with named stores", LaterMedia.SeatsPeeked::before, LaterMedia.SeatsPeeked::after)
            .reads("seats", 1).reads("halls", 1).writes("hall-seats", "cinema-cents")
            .first("halls h1 roxy 0", "halls h2 astor 0.5", "seats t1 h1,900 1", "seats t2 h2,800 2", "seats t3 h1,700 3").then("seats t4 h1,900 20", "seats t5 h2,600 21", "halls h3 roxy 22", "seats t6 h3,500 23");
    }

    static void scooters() {
        pull("scooter_values_processed", "process -> processValues with the same named store before two un-named counts", LaterTown.ValuesProcessed::before, LaterTown.ValuesProcessed::after)
            .reads("positions", 1).writes("moves", "move-counts", "way-counts")
            .first("positions s1 park 0", "positions s2 port 1", "positions s1 dome 2", "positions s2 park 3").then("positions s1 park 20", "positions s2 port 21", "positions s3 park 22", "positions s1 dome 23");
        pull("scooter_low_batteries_only", "filter before a named count of another key and a named windowed count", LaterTown.LowBatteries::before, LaterTown.LowBatteries::after)
            .reads("batteries", 1).writes("zone-reports", "scooter-minutes")
            .first("batteries s1 z1,80 0", "batteries s2 z2,15 1", "batteries s1 z1,70 2").then("batteries s1 z1,10 20", "batteries s2 z2,12 21", "batteries s3 z1,90 22", "batteries s2 z1,5 23");
        pull("scooter_rides_cached", "statestore.cache.max.bytes: 0 -> 10 MB, longer commits, two threads; un-named aggregate and count", LaterTown.RidesCached::build, LaterTown.RidesCached::build)
            .now("statestore.cache.max.bytes", "10485760").now("commit.interval.ms", "500").now("num.stream.threads", "2").reads("rides", 2).writes("scooter-minutes", "zone-rides")
            .first("rides s1 z1,10 0", "rides s2 z2,5 1", "rides s1 z2,8 2", "rides s3 z1,0 3").then("rides s1 z1,4 20", "rides s2 z2,6 21", "rides s1 z1,3 22", "rides s3 z2,9 23");
    }

    static void factories() {
        pull("factory_parts_in_other_order", "three independent parts declared in the opposite order: an un-named count, an un-named windowed count, a named count", LaterTown.PartsInOtherOrder::before, LaterTown.PartsInOtherOrder::after)
            .reads("parts", 1).reads("stops", 1).reads("shifts", 1).writes("part-counts", "stop-minutes", "hall-shifts")
            .first("parts m1 bolt 0", "stops m1 jam 1", "shifts w1 h1 2", "parts m1 nut 3", "stops m2 jam 4", "shifts w2 h1 5").then("parts m1 bolt 20", "stops m1 heat 21", "shifts w3 h1 22", "parts m2 nut 23", "stops m2 jam 24", "shifts w1 h2 25");
        pull("factory_tests_in_memory", "a named store on disk -> in memory and cached, an un-named count behind", LaterTown.TestsInMemory::before, LaterTown.TestsInMemory::after)
            .reads("tests", 1).writes("results", "line-counts")
            .first("tests m1 l1,ok 0", "tests m2 l2,bad 1", "tests m1 l1,ok 2").then("tests m1 l1,bad 20", "tests m2 l2,ok 21", "tests m3 l1,ok 22");
    }

    static void airports() {
        pull("airport_airline_for_gate", "groupBy of a named aggregate: the gate -> the airline; an un-named count behind", LaterTown.AirlineForGate::before, LaterTown.AirlineForGate::after)
            .reads("flights", 1).writes("passengers", "airline-counts")
            .first("flights f1 g1,kl,100 0", "flights f2 g2,af,50 1", "flights f3 g1,af,30 2").then("flights f4 g1,kl,10 20", "flights f5 g2,kl,5 21", "flights f6 g3,af,1 22");
        pull("airport_own_topic_gone", "to() and stream() of an own topic with 3 partitions -> repartition() of an input with 2; a named aggregate and an un-named count behind", LaterTown.OwnTopicGone::before, LaterTown.OwnTopicGone::after)
            .reads("bags", 2).reads("bags-by-flight", 3).writes("flight-kilos", "flight-bags")
            .first("bags b1 f1,20 0", "bags b2 f2,15 1", "bags b3 f1,9 2", "bags b4 f3,30 3").then("bags b5 f1,8 20", "bags b6 f2,25 21", "bags b7 f4,11 22");
    }

    static void recycling() {
        pull("recycling_bins_no_longer_global", "join with an un-named global table -> selectKey and join with an un-named table of 2 partitions; a named aggregate and an un-named windowed count behind", LaterTown.BinsNoLongerGlobal::before, LaterTown.BinsNoLongerGlobal::after)
            .reads("pickups", 1).reads("bins", 2).writes("street-kilos", "street-minutes")
            .first("bins b1 elm 0", "bins b2 oak 0.5", "pickups p1 b1,30 1", "pickups p2 b2,10 2", "pickups p3 b1,5 3").then("pickups p4 b1,7 20", "pickups p5 b2,2 21", "pickups p6 b1,1 22");
        pull("recycling_names_demanded_and_given", "ensure.explicit.internal.resource.naming: true, and names for a table, a join, two groupings and two stores", LaterTown.NamesDemandedAndGiven::before, LaterTown.NamesDemandedAndGiven::after)
            .now("ensure.explicit.internal.resource.naming", "true").reads("trucks", 1).reads("drivers", 1).writes("yard-kilos", "driver-counts")
            .first("drivers t1 ann 0", "drivers t2 bob 0.5", "trucks t1 y1,900 1", "trucks t2 y2,400 2", "trucks t1 y2,100 3").then("trucks t1 y1,50 20", "trucks t2 y2,70 21", "drivers t3 ann 22", "trucks t3 y1,5 23");
    }

    static {
        hospitals();
        schools();
        libraries();
        insurers();
        farms();
        weather();
        grids();
        waterworks();
        news();
        music();
        sports();
        cinemas();
        scooters();
        factories();
        airports();
        recycling();
    }
}
