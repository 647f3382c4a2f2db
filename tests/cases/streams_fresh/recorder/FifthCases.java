/**
 * A fifth list of changes as pull requests make them, of other trades than the lists before; nothing here says how they end.
 *
 * Each names the class with the code of both versions, as there; PullApplication runs either.
 */
final class FifthCases {
    private FifthCases() { }

    /** Adds them to Cases.ALL. */
    static void load() { }

    static Case pull(String name, String change, Case.Build before, Case.Build after) { return Cases.add(name, change, before, after).ownTopics(); }

    static void refactorings() {
        pull("dentist_filter_not", "a filter -> filterNot, lambdas -> method references in front of an un-named count, a named aggregate and an un-named windowed count", FifthCare.FilterNot::before, FifthCare.FilterNot::after)
            .reads("appointments", 1).writes("patient-counts", "dentist-minutes", "chair-minutes")
            .first("appointments ann Kay,C1,30 0", "appointments bob lee,c2,45 1", "appointments cid KAY,c1,0 2", "appointments dan mo,c3,20 3", "appointments eve lee,C2,60 4", "appointments fay mo,c3,15 5", "appointments cid kay,c1,25 6", "appointments ann Lee,c2,10 7")
            .then("appointments ann kay,c1,40 20", "appointments bob MO,C3,35 21", "appointments cid lee,c2,50 22", "appointments dan kay,C1,0 23", "appointments dan mo,c3,55 24", "appointments eve Lee,c1,15 25", "appointments fay kay,c2,30 26", "appointments gus mo,c1,20 27");
        pull("campsite_values_processed", "process() -> processValues() of an un-named processor with a named store; an un-named count in front, a named reduce and an un-named windowed count behind", FifthStreets.ValuesProcessed::before, FifthStreets.ValuesProcessed::after)
            .reads("stays", 1).writes("site-counts", "moves", "site-moves", "site-minutes")
            .first("stays ann lake,2 0", "stays bob hill,1 1", "stays cid beach,3 2", "stays dan lake,0 3", "stays dan lake,4 4", "stays eve hill,2 5", "stays fay wood,5 6", "stays ann beach,1 7")
            .then("stays ann hill,2 20", "stays bob lake,3 21", "stays cid wood,1 22", "stays dan beach,2 23", "stays eve lake,1 24", "stays fay hill,4 25", "stays gus wood,2 26");
        pull("ferry_unused_table_removed", "an un-named table that nothing reads, removed in front of a named table, an un-named count, a join with a named aggregate, an un-named windowed count", FifthStreets.UnusedTableRemoved::before, FifthStreets.UnusedTableRemoved::after)
            .reads("crossings", 1).reads("ports", 1).reads("routes", 1).writes("ferry-counts", "island-cars", "route-minutes")
            .first("ports north kiel 0", "ports south ulm 0.1", "routes r1 amrum 0.2", "routes r2 juist 0.3", "routes r3 amrum 0.4", "routes r4 sylt 0.5",
                "crossings f1 r1,20 1", "crossings f2 r2,35 2", "crossings f3 r3,12 3", "crossings f4 r4,0 4", "crossings f4 r4,50 5", "crossings f5 r1,8 6", "crossings f6 r2,40 7", "crossings f1 r3,22 8")
            .then("crossings f1 r2,10 20", "crossings f2 r1,15 21", "crossings f3 r4,30 22", "crossings f4 r3,25 23", "crossings f5 r2,5 24", "crossings f6 r1,45 25", "crossings f7 r4,3 26");
        pull("florist_aggregate_for_count", "an un-named count() -> an aggregate that adds 1; an un-named aggregate and a named reduce behind", FifthNature.AggregateForCount::before, FifthNature.AggregateForCount::after)
            .reads("bouquets", 1).writes("shop-counts", "flower-stems", "largest")
            .first("bouquets o1 east,rose,12 0", "bouquets o2 west,tulip,20 1", "bouquets o3 port,lily,5 2", "bouquets o4 east,aster,0 3", "bouquets o4 east,aster,9 4", "bouquets o5 hill,rose,24 5", "bouquets o6 west,lily,7 6", "bouquets o1 port,iris,15 7")
            .then("bouquets o1 east,tulip,10 20", "bouquets o2 hill,rose,6 21", "bouquets o3 west,aster,11 22", "bouquets o4 port,iris,3 23", "bouquets o5 east,lily,8 24", "bouquets o6 hill,tulip,30 25", "bouquets o7 west,rose,18 26");
        pull("bridge_join_for_left_join", "leftJoin and a filter of what was not found -> join with an un-named table; named aggregate, count and windowed count behind, whose groupings have no names; an un-named count in front", FifthStreets.InnerForLeftAndFilter::before, FifthStreets.InnerForLeftAndFilter::after)
            .reads("loads", 1).reads("limits", 1).writes("lorry-counts", "bridge-tons", "overloads", "bridge-minutes")
            .first("limits old 12 0", "limits new 40 0.1", "limits iron 20 0.2", "limits stone 16 0.3", "limits wood 5 0.4", "limits canal 30 0.5",
                "loads k1 old,14 1", "loads k2 new,38 2", "loads k3 iron,25 3", "loads k4 stone,10 4", "loads k5 wood,7 5", "loads k6 canal,28 6", "loads k7 ford,9 7", "loads k1 iron,22 8")
            .then("loads k1 new,41 20", "loads k2 old,13 21", "loads k3 canal,33 22", "loads k4 wood,4 23", "loads k5 iron,21 24", "loads k6 ford,50 25", "loads k6 stone,18 26", "loads k7 canal,35 27");
        pull("tennis_merge_for_cogroup", "a cogroup of two inputs -> a merge and an aggregate in its named store; an un-named count in front, a named windowed count behind", FifthCare.MergeForCogroup::before, FifthCare.MergeForCogroup::after)
            .reads("bookings", 1).reads("cancellations", 1).writes("court-counts", "member-hours", "court-minutes")
            .first("bookings ann c1,2 0", "bookings bob c2,1 1", "bookings cid c1,3 2", "bookings dan c3,2 3", "cancellations bob c2,1 4", "bookings eve c2,4 5", "bookings fay c3,1 6", "cancellations cid c1,1 7")
            .then("cancellations ann c1,1 20", "bookings bob c3,2 21", "bookings cid c2,1 22", "cancellations dan c3,2 23", "bookings eve c1,3 24", "bookings fay c2,2 25", "bookings gus c3,5 26");
        pull("printer_key_in_to_stream", "toStream().map() that only chooses a key -> toStream() with it, behind an un-named windowed reduce; a named aggregate in front, an un-named count behind", FifthOnline.KeyInToStream::before, FifthOnline.KeyInToStream::after)
            .reads("jobs", 1).writes("printer-pages", "largest", "room-counts")
            .first("jobs j1 laser,r1,10 0", "jobs j2 ink,r2,3 1", "jobs j3 laser,r3,0 2", "jobs j3 laser,r3,8 3", "jobs j4 plot,r1,2 4", "jobs j5 ink,r2,25 5", "jobs j6 plot,r4,6 6", "jobs j7 wax,r5,1 7", "jobs j8 wax,r6,14 8")
            .then("jobs j1 ink,r1,4 20", "jobs j2 laser,r2,30 21", "jobs j3 plot,r3,5 22", "jobs j4 wax,r4,12 23", "jobs j5 laser,r5,7 24", "jobs j6 ink,r6,9 25", "jobs j9 plot,r7,11 26");
        pull("crossword_store_by_name", "a reduce's store given by a supplier of a plain store -> by its name; a named count of the table behind, un-named counts in front and behind", FifthOnline.StoreByName::before, FifthOnline.StoreByName::after)
            .reads("solved", 1).writes("puzzle-counts", "fastest", "puzzle-players", "player-minutes")
            .first("solved ann p1,300 0", "solved bob p2,250 1", "solved cid p1,410 2", "solved dan p3,0 3", "solved dan p3,520 4", "solved eve p2,190 5", "solved fay p1,330 6", "solved ann p2,280 7")
            .then("solved ann p3,290 20", "solved bob p1,240 21", "solved cid p2,400 22", "solved dan p1,530 23", "solved eve p3,180 24", "solved fay p2,340 25", "solved gus p1,600 26");
        pull("petition_outputs_at_the_end", "outputs of an un-named count, a named count, an un-named reduce and an un-named windowed count, each behind its table -> all behind the last", FifthOnline.OutputsAtTheEnd::before, FifthOnline.OutputsAtTheEnd::after)
            .reads("signatures", 1).writes("petition-counts", "city-counts", "person-petitions", "petition-minutes")
            .first("signatures ann trees,bonn 0", "signatures bob bikes,ulm 1", "signatures cid trees,kiel 2", "signatures dan none 3", "signatures dan noise,bonn 4", "signatures eve pools,jena 5", "signatures fay bikes,ulm 6", "signatures ann noise,bonn 7")
            .then("signatures ann bikes,bonn 20", "signatures bob trees,ulm 21", "signatures cid noise,kiel 22", "signatures dan trees,bonn 23", "signatures eve bikes,jena 24", "signatures fay pools,ulm 25", "signatures gus trees,kiel 26");
        pull("lamp_peek_for_foreach", "a foreach beside -> a peek in front of what is put out, an un-named count and a named aggregate; an un-named reduce in front", FifthStreets.PeekForForeach::before, FifthStreets.PeekForForeach::after)
            .reads("states", 1).writes("lamp-states", "faults", "street-faults", "state-watts")
            .first("states l1 elm,on,40 0", "states l2 oak,off,30 1", "states l3 elm,dim,60 2", "states l4 ash,off,25 3", "states l5 oak,dim,35 4", "states l6 fir,off,50 5", "states l1 elm,off,40 6", "states l2 oak,on,30 7")
            .then("states l1 elm,dim,40 20", "states l2 oak,off,30 21", "states l3 elm,off,60 22", "states l4 ash,dim,25 23", "states l5 oak,on,35 24", "states l6 fir,dim,50 25", "states l7 fir,off,45 26");
        pull("driving_table_without_detour", "a table's toStream(), mapValues() and toTable() -> its mapValues() in the same named store; an un-named aggregate in front, a named join, count and windowed count behind", FifthCare.TableWithoutDetour::before, FifthCare.TableWithoutDetour::after)
            .reads("lessons", 1).reads("students", 1).writes("student-minutes", "city-counts", "teacher-minutes")
            .first("students ann bonn,b 0", "students bob ulm,a 0.1", "students cid bonn,b 0.2", "students dan kiel,c 0.3", "students eve jena,b 0.4", "students fay ulm,b 0.5",
                "lessons ann kim,90 1", "lessons bob lee,45 2", "lessons cid kim,0 3", "lessons cid kim,60 4", "lessons dan max,90 5", "lessons eve lee,45 6", "lessons fay max,30 7", "lessons gus kim,45 8")
            .then("students bob kiel,a 19", "lessons ann lee,45 20", "lessons bob kim,90 21", "lessons cid max,45 22", "lessons dan kim,60 23", "lessons eve lee,30 24", "lessons fay kim,45 25", "lessons gus max,90 26");
        pull("locker_no_default_branch", "a default branch that nothing reads removed behind two branches with an un-named aggregate and an un-named reduce; an un-named count in front", FifthStreets.NoDefaultBranch::before, FifthStreets.NoDefaultBranch::after)
            .reads("parcels", 1).writes("locker-counts", "small-hours", "longest-large")
            .first("parcels p1 north,small,4 0", "parcels p2 south,large,20 1", "parcels p3 east,small,8 2", "parcels p4 west,large,2 3", "parcels p5 north,middle,6 4", "parcels p6 south,small,30 5", "parcels p7 port,large,12 6", "parcels p8 west,small,3 7")
            .then("parcels p1 north,large,9 20", "parcels p2 south,small,5 21", "parcels p3 east,large,16 22", "parcels p4 west,small,7 23", "parcels p5 north,small,11 24", "parcels p6 south,large,18 25", "parcels p9 port,middle,2 26", "parcels p7 port,small,1 27");
    }

    static void logic() {
        pull("coffee_double_for_long", "what a named aggregate keeps: Long -> Double; an un-named count and a named windowed count in front", FifthNature.DoubleForLong::before, FifthNature.DoubleForLong::after)
            .reads("sales", 1).writes("till-counts", "bean-minutes", "bean-takings")
            .first("sales t1 kona,350 0", "sales t2 java,280 1", "sales t3 yirga,420 2", "sales t4 mocha,0 3", "sales t4 mocha,300 4", "sales t5 huila,310 5", "sales t6 sidamo,390 6", "sales t1 java,290 7")
            .then("sales t1 kona,360 20", "sales t2 yirga,410 21", "sales t3 java,270 22", "sales t4 huila,320 23", "sales t5 mocha,305 24", "sales t6 sidamo,380 25", "sales t7 kona,340 26");
        pull("pothole_mean_depth", "the texts that a named aggregate keeps: a sum -> a sum and a number; an un-named count and a named windowed count in front", FifthStreets.MeanDepth::before, FifthStreets.MeanDepth::after)
            .reads("reports", 1).writes("report-counts", "street-minutes", "depths")
            .first("reports r1 elm,4 0", "reports r2 oak,9 1", "reports r3 ash,0 2", "reports r3 ash,6 3", "reports r4 fir,12 4", "reports r5 elm,8 5", "reports r6 birch,3 6", "reports r7 lime,5 7")
            .then("reports r8 yew,7 20", "reports r1 elm,5 21", "reports r2 oak,11 22", "reports r3 ash,2 23", "reports r4 fir,10 24", "reports r5 birch,4 25", "reports r6 lime,9 26");
        pull("lost_line_for_station", "the key of a named count of a table's rows: the station -> the line; an un-named aggregate in front, an un-named windowed count behind", FifthStreets.LineForStation::before, FifthStreets.LineForStation::after)
            .reads("items", 1).writes("kind-items", "place-counts", "kind-minutes")
            .first("items i1 zoo,hat,u1 0", "items i2 spa,bag,u2 1", "items i3 zoo,key,u1 2", "items i4 fair,hat,u3 3", "items i5 spa,phone,u2 4", "items i6 quay,bag,u3 5", "items i7 zoo,coat,u1 6")
            .then("items i1 - 20", "items i2 fair,bag,u3 21", "items i8 quay,hat,u3 22", "items i4 - 23", "items i5 depot,phone,u1 24", "items i6 depot,bag,u1 25", "items i9 spa,key,u2 26", "items i3 depot,key,u1 27");
        pull("pool_small_children_free", "a filter inserted between an un-named reduce and a named aggregate; an un-named windowed count behind, which it leaves alone", FifthCare.SmallChildrenFree::before, FifthCare.SmallChildrenFree::after)
            .reads("tickets", 1).writes("visitor-pools", "pool-cents", "pool-minutes")
            .first("tickets ann north,30,450 0", "tickets bob south,5,200 1", "tickets cid east,12,300 2", "tickets dan north,70,350 3", "tickets eve west,4,200 4", "tickets fay port,41,450 5", "tickets ann south,30,450 6", "tickets gus lake,3,200 7")
            .then("tickets ann east,30,450 20", "tickets bob north,5,200 21", "tickets cid south,12,300 22", "tickets dan west,70,350 23", "tickets eve port,4,200 24", "tickets fay lake,41,450 25", "tickets hal north,9,300 26");
        pull("ambulance_units_put_out", "a filter and a mapValues behind an un-named aggregate that stays last; an un-named count and a named aggregate in front", FifthCare.UnitsPutOut::before, FifthCare.UnitsPutOut::after)
            .reads("calls", 1).writes("status-counts", "districts", "call-minutes")
            .first("calls c1 east,sent,4 0", "calls c2 west,sent,6 1", "calls c1 east,there,9 2", "calls c3 port,sent,5 3", "calls c4 broken 4", "calls c4 hill,sent,8 5", "calls c5 east,sent,3 6", "calls c6 west,sent,7 7", "calls c2 west,there,12 8")
            .then("calls c1 east,done,30 20", "calls c2 west,done,25 21", "calls c3 port,there,11 22", "calls c4 hill,there,14 23", "calls c5 east,there,10 24", "calls c6 west,done,20 25", "calls c7 port,sent,2 26");
        pull("stamp_lots_for_updates", "a named count of what a table sends -> of the rows that it has; a named table and an un-named reduce in front, a named aggregate of the table behind", FifthNature.LotsForUpdates::before, FifthNature.LotsForUpdates::after)
            .reads("lots", 1).writes("highest", "country-counts", "country-worth")
            .first("lots s1 peru,40 0", "lots s2 oman,90 1", "lots s3 peru,25 2", "lots s4 cuba,60 3", "lots s1 peru,45 4", "lots s5 nepal,15 5", "lots s6 malta,30 6", "lots s1 peru,50 7", "lots s2 oman,95 8")
            .then("lots s1 - 20", "lots s2 cuba,100 21", "lots s3 peru,30 22", "lots s4 cuba,65 23", "lots s5 nepal,20 24", "lots s6 oman,35 25", "lots s7 malta,10 26", "lots s8 peru,80 27");
        pull("survey_panel_only", "leftJoin -> join of a stream with an un-named table in front of a named aggregate and an un-named count; an un-named windowed count behind", FifthOnline.PanelOnly::before, FifthOnline.PanelOnly::after)
            .reads("answers", 1).reads("panel", 1).writes("region-points", "question-counts", "person-minutes")
            .first("panel ann north 0", "panel bob south 0.1", "panel cid east 0.2", "panel dan west 0.3", "panel eve coast 0.4", "panel fay hills 0.5",
                "answers ann q1,5 1", "answers bob q2,3 2", "answers cid q3,4 3", "answers dan q1,-1 4", "answers dan q4,2 5", "answers eve q5,1 6", "answers fay q6,5 7", "answers gus q1,4 8")
            .then("answers ann q2,4 20", "answers bob q3,5 21", "answers cid q1,2 22", "answers dan q5,3 23", "answers eve q6,4 24", "answers fay q4,1 25", "answers gus q2,5 26", "answers hal q3,2 27");
    }

    static void operators() {
        pull("lab_samples_versioned", "a named table's store -> a versioned one of another name, while topology.optimization is all; a named count, an un-named reduce and an un-named windowed count of a stream joined with it", FifthCare.SamplesVersioned::before, FifthCare.SamplesVersioned::after)
            .with("topology.optimization", "all").reads("results", 1).reads("samples", 1).writes("placed", "patient-counts", "highest", "sample-minutes")
            .first("samples s1 ann,red 0", "samples s2 bob,blue 0.1", "samples s3 cid,red 0.2", "samples s4 ann,grey 0.3", "samples s5 dan,blue 0.4", "samples s6 eve,red 0.5",
                "results s1 iron,90 1", "results s2 salt,140 2", "results s3 iron,70 3", "results s4 sugar,95 4", "results s5 salt,138 5", "results s6 sugar,110 6", "results s7 zinc,12 7")
            .then("samples s2 fay,blue 19", "results s1 sugar,100 20", "results s2 iron,60 21", "results s3 salt,142 22", "results s4 zinc,15 23", "results s5 iron,95 24", "results s6 zinc,11 25", "results s7 salt,139 26");
        pull("bird_join_with_grace", "a join of a stream with a named versioned table gets a grace period; an un-named count in front, a named aggregate and an un-named count behind", FifthNature.JoinWithGrace::before, FifthNature.JoinWithGrace::after)
            .reads("ringings", 1).reads("birds", 1).writes("ringer-counts", "known", "species-grams", "bird-counts")
            .first("birds b1 tit 0", "birds b2 wren 0.1", "birds b3 tit 0.2", "birds b4 rook 0.3", "birds b5 wren 0.4", "birds b6 swift 0.5",
                "ringings b1 ann,18 1", "ringings b2 bob,9 2", "ringings b3 ann,17 3", "ringings b4 cid,420 4", "ringings b5 bob,10 5", "ringings b6 cid,41 6", "ringings b1 bob,19 7")
            .then("ringings b1 cid,18 30", "ringings b2 ann,8 31", "ringings b3 bob,16 32", "ringings b4 ann,430 33", "ringings b5 cid,11 34", "ringings b6 bob,40 35", "ringings b7 ann,30 36", "ringings b1 ann,20 60", "ringings b2 bob,9 61");
        pull("kindergarten_emitted_when_closed", "a named suppress until windows close -> EmitStrategy.onWindowClose of its named windowed count; an un-named count in front, a named reduce behind", FifthCare.EmittedWhenClosed::before, FifthCare.EmittedWhenClosed::after)
            .reads("arrivals", 1).writes("child-counts", "group-minutes", "busiest")
            .first("arrivals ann owls,mum 0", "arrivals bob bees,dad 5", "arrivals cid nobody 10", "arrivals cid owls,mum 12", "arrivals dan foxes,dad 61", "arrivals eve bees,mum 62", "arrivals fay moles,gran 63", "arrivals gus cats,dad 64", "arrivals hal mice,mum 66")
            .then("arrivals ann owls,dad 80", "arrivals bob bees,mum 85", "arrivals cid foxes,mum 90", "arrivals dan moles,dad 121", "arrivals eve cats,mum 130", "arrivals fay mice,gran 131", "arrivals gus owls,dad 190", "arrivals hal bees,mum 260");
        pull("rental_returns_joined", "a second join of streams, of named stores, with a named aggregate behind a first one of named stores; an un-named count in front", FifthStreets.ReturnsJoined::before, FifthStreets.ReturnsJoined::after)
            .reads("contracts", 1).reads("payments", 1).reads("returns", 1).writes("car-counts", "car-cents", "closed", "car-metres")
            .first("contracts c1 vw,a 0", "payments c1 9000 1", "contracts c2 fiat,b 2", "contracts c3 bmw,a 3", "payments c3 15000 4", "contracts c4 vw,c 5", "payments c4 8000 6", "contracts c5 seat,b 7", "contracts c6 fiat,a 8", "payments c6 7000 9")
            .then("payments c2 7500 20", "returns c1 120 21", "returns c2 300 22", "payments c5 6500 23", "returns c3 80 24", "contracts c7 bmw,b 25", "payments c7 16000 26", "returns c7 410 27", "returns c5 95 28", "contracts c8 skoda,a 29", "payments c8 5000 30");
        pull("genes_global", "a join of two named tables over a foreign key -> of the stream of one with a global table; an un-named count in front, a named windowed count behind", FifthNature.GenesGlobal::before, FifthNature.GenesGlobal::after)
            .reads("variants", 1).reads("genes", 1).writes("kind-counts", "placed", "chromosome-minutes")
            .first("genes g1 chr1 0", "genes g2 chr2 0.1", "genes g3 chr1 0.2", "genes g4 chr7 0.3", "genes g5 chrX 0.4", "variants v1 g1,snp 1", "variants v2 g2,gap 2", "variants v3 g3,snp 3", "variants v4 g4,copy 4", "variants v5 g5,gap 5", "variants v6 g1,copy 6")
            .then("variants v1 g2,snp 20", "variants v2 g4,gap 21", "variants v3 g5,copy 22", "variants v4 g1,snp 23", "variants v7 g3,gap 24", "variants v5 g2,snp 25", "variants v6 g3,gap 26");
        pull("drone_flights_for_ten_minutes", "the named store of a named processor that drops what it knows: keys -> windows of ten minutes; an un-named reduce in front, a named count and an un-named windowed count behind", FifthNature.FlightsForTenMinutes::before, FifthNature.FlightsForTenMinutes::after)
            .reads("pings", 1).writes("highest", "drone-flights", "flight-minutes")
            .first("pings d1 f1,80 0", "pings d2 f2,120 1", "pings d3 f3,60 2", "pings d1 f1,85 3", "pings d4 f4,0 4", "pings d4 f4,90 5", "pings d5 f5,110 6", "pings d6 f6,70 7")
            .then("pings d1 f1,75 20", "pings d2 f7,100 21", "pings d3 f3,65 22", "pings d4 f8,95 23", "pings d5 f5,105 24", "pings d6 f9,72 25", "pings d7 f10,50 26", "pings d2 f7,99 27");
        pull("quake_filter_not_kept", "a filter of an un-named table is no longer kept in its named store; an un-named count in front, a join with it, a named reduce and a named windowed count behind", FifthNature.FilterNotKept::before, FifthNature.FilterNotKept::after)
            .reads("quakes", 1).reads("stations", 1).writes("station-counts", "strongest", "region-minutes")
            .first("stations s1 andes,active 0", "stations s2 alps,active 0.1", "stations s3 andes,broken 0.2", "stations s4 atlas,active 0.3", "stations s5 alps,active 0.4", "stations s6 urals,active 0.5", "stations s7 taurus,active 0.6",
                "quakes s1 10,42 1", "quakes s2 5,31 2", "quakes s3 8,25 3", "quakes s4 30,50 4", "quakes s5 12,28 5", "quakes s6 6,33 6", "quakes s7 9,21 7")
            .then("stations s3 andes,active 19", "quakes s1 11,40 20", "quakes s2 6,35 21", "quakes s3 9,45 22", "quakes s4 28,48 23", "quakes s5 14,27 24", "quakes s6 7,30 25", "quakes s7 8,22 26");
        pull("chocolate_rates_joined", "a global table and a named join with it in front of a named aggregate, an un-named count and a named windowed count", FifthNature.RatesJoined::before, FifthNature.RatesJoined::after)
            .reads("sales", 1).reads("rates", 1).writes("shop-takings", "kind-counts", "currency-minutes")
            .first("rates eur 1 0", "rates chf 2 0.1", "rates gbp 3 0.2", "sales s1 dark,300,eur 1", "sales s2 milk,200,chf 2", "sales s3 nut,250,gbp 3", "sales s4 white,180,eur 4", "sales s5 dark,320,usd 5", "sales s6 mint,150,sek 6", "sales s1 nut,210,chf 7")
            .then("sales s1 milk,190,eur 20", "sales s2 dark,310,gbp 21", "sales s3 white,170,chf 22", "sales s4 mint,160,usd 23", "sales s5 nut,240,eur 24", "sales s6 milk,205,sek 25", "sales s7 dark,330,nok 26");
        pull("vaccine_travel_doses_too", "a third input between the two of a cogroup with a named store and named groupings; an un-named count in front, a named count behind", FifthCare.TravelDosesToo::before, FifthCare.TravelDosesToo::after)
            .reads("doses", 1).reads("boosters", 1).reads("travel", 1).writes("kind-counts", "person-doses", "booster-counts")
            .first("doses d1 ann,polio 0", "doses d2 bob,mumps 1", "doses d3 cid,polio 2", "boosters b1 ann,polio 3", "doses d4 dan,tetanus 4", "doses d5 eve,measles 5", "boosters b2 bob,mumps 6", "doses d6 fay,rubella 7", "boosters b3 eve,measles 8")
            .then("travel t1 ann,rabies 20", "boosters b4 cid,polio 21", "travel t2 bob,typhoid 22", "doses d7 gus,tetanus 23", "boosters b5 dan,tetanus 24", "travel t3 eve,cholera 25", "boosters b6 fay,rubella 26", "doses d8 hal,mumps 27", "boosters b7 gus,flu 28");
    }

    static void settings() {
        pull("glacier_stores_with_headers", "dsl.store.format: none -> HEADERS for a named table, an un-named aggregate, a named windowed count and a named count of sessions", FifthNature.StoresWithHeaders::build, FifthNature.StoresWithHeaders::build)
            .now("dsl.store.format", "HEADERS").reads("stakes", 1).reads("glaciers", 1).writes("country-metres", "glacier-minutes", "station-visits")
            .first("glaciers g1 norway 0", "glaciers g2 chile 0.1", "glaciers g3 nepal 0.2", "glaciers g4 norway 0.3", "glaciers g5 peru 0.4", "glaciers g6 chile 0.5",
                "stakes g1 a,12 1", "stakes g2 b,30 2", "stakes g3 c,8 3", "stakes g4 d,25 4", "stakes g5 e,17 5", "stakes g6 f,21 6", "stakes g7 a,5 7")
            .then("stakes g1 a,10 20", "stakes g2 b,28 21", "stakes g3 c,9 22", "stakes g4 d,24 23", "stakes g5 e,16 24", "stakes g6 f,20 25", "stakes g7 a,4 70");
        pull("vpn_self_join_optimised", "topology.optimization: none -> single.store.self.join for an un-named join of a stream with itself and a named count; an un-named count in front, an un-named windowed count behind", FifthOnline.SelfJoinOptimised::build, FifthOnline.SelfJoinOptimised::build)
            .was("topology.optimization", "none").now("topology.optimization", "single.store.self.join").reads("logins", 1).writes("country-counts", "alarms", "user-alarms", "device-minutes")
            .first("logins ann de,phone 0", "logins bob fr,laptop 1", "logins ann us,laptop 2", "logins cid jp,phone 3", "logins dan de,tablet 4", "logins cid br,laptop 5", "logins eve it,phone 6", "logins fay es,watch 7")
            .then("logins ann fr,phone 20", "logins bob de,laptop 21", "logins cid in,phone 22", "logins dan us,tablet 23", "logins eve fr,watch 24", "logins fay pt,phone 60", "logins gus jp,tv 61", "logins bob es,laptop 62");
        pull("rack_four_partitions", "repartition() of a name: 2 -> 4 partitions before a named aggregate and a named windowed count; an un-named reduce in front", FifthOnline.FourPartitions::before, FifthOnline.FourPartitions::after)
            .reads("readings", 2).writes("sensor-peaks", "rack-watts", "rack-minutes")
            .first("readings s1 r1,200 0", "readings s2 r2,350 1", "readings s3 r3,0 2", "readings s3 r3,120 3", "readings s4 r4,500 4", "readings s5 r5,90 5", "readings s6 r6,410 6", "readings s1 r1,220 7")
            .then("readings s1 r1,210 20", "readings s2 r2,340 21", "readings s3 r3,130 22", "readings s4 r4,480 23", "readings s5 r5,95 24", "readings s6 r6,400 25", "readings s7 r7,60 26");
        pull("flag_broken_stop", "deserialization.exception.handler: the one that logs and continues -> the one that logs and fails, where only earlier rows are broken; an un-named reduce, a named count, an un-named windowed count", FifthOnline.BrokenStop::build, FifthOnline.BrokenStop::build)
            .was("deserialization.exception.handler", "org.apache.kafka.streams.errors.LogAndContinueExceptionHandler").now("deserialization.exception.handler", "org.apache.kafka.streams.errors.LogAndFailExceptionHandler")
            .reads("toggles", 1).writes("flag-percents", "team-counts", "flag-minutes")
            .first("toggles dark web,10 0", "toggles beta app,50 1", "toggles fast broken 2", "toggles fast web,5 3", "toggles chat ops,20 4", "toggles maps app,100 5", "toggles sync lab,30 6", "toggles dark web,40 7")
            .then("toggles dark web,80 20", "toggles beta app,70 21", "toggles fast lab,15 22", "toggles chat ops,60 23", "toggles maps web,0 24", "toggles sync lab,90 25", "toggles pay ops,1 26");
        pull("film_servers_known", "application.server, client.id and a standby replica set for an un-named aggregate, a join with a named table and a named count, an un-named windowed count", FifthOnline.ServersKnown::build, FifthOnline.ServersKnown::build)
            .now("application.server", "localhost:7070").now("client.id", "film-views").now("num.standby.replicas", "1").reads("views", 2).reads("films", 2).writes("viewer-seconds", "studio-counts", "film-minutes")
            .first("films rain ufa 0", "films snow dar 0.1", "films fog ufa 0.2", "films hail nord 0.3", "films dew dar 0.4", "films sun west 0.5",
                "views ann rain,600 1", "views bob snow,1200 2", "views cid fog,0 3", "views cid fog,300 4", "views dan hail,90 5", "views eve dew,450 6", "views fay sun,30 7", "views ann mist,20 8")
            .then("views ann snow,100 20", "views bob rain,200 21", "views cid hail,300 22", "views dan dew,400 23", "views eve sun,500 24", "views fay fog,60 25", "views gus mist,70 26");
        pull("whale_seen_earlier", "default.timestamp.extractor: none -> one of its own that takes seconds off for an un-named reduce, a named windowed count and an un-named one", FifthNature.SeenEarlier::build, FifthNature.SeenEarlier::build)
            .now("default.timestamp.extractor", "FifthNature$SeenEarlier$SeenAt").reads("sightings", 1).writes("whale-ships", "whale-minutes", "ship-minutes")
            .first("sightings w1 argo,5 61", "sightings w2 beagle,0 62", "sightings w3 argo,10 63", "sightings w4 calypso,2 64", "sightings w5 beagle,1 65", "sightings w6 endurance,3 66", "sightings w1 fram,4 67", "sightings w7 rainbow,1 68")
            .then("sightings w1 argo,2 90", "sightings w2 beagle,40 91", "sightings w3 argo,5 92", "sightings w4 calypso,50 93", "sightings w5 fram,3 94", "sightings w6 endurance,45 95", "sightings w8 rainbow,1 96");
    }

    static void topics() {
        pull("pizza_audit_output", "all rows put out to a topic of their own first, behind an un-named table and in front of an un-named count, a named join with a named aggregate, a named windowed count", FifthStreets.AuditOutput::before, FifthStreets.AuditOutput::after)
            .reads("orders", 1).reads("shops", 1).writes("audit", "kind-counts", "town-cents", "shop-minutes")
            .first("shops roma bonn 0", "shops capri ulm 0.1", "shops etna bonn 0.2", "shops pisa kiel 0.3", "orders o1 roma,funghi,900 1", "orders o2 capri,tonno,1100 2", "orders o3 etna,salami,850 3", "orders o4 pisa,funghi,950 4", "orders o5 roma,spinat,880 5", "orders o6 lido,rucola,1200 6", "orders o7 capri,caprese,990 7")
            .then("orders o1 roma,tonno,1000 20", "orders o2 etna,funghi,910 21", "orders o3 capri,rucola,1150 22", "orders o4 pisa,salami,870 23", "orders o5 lido,caprese,980 24", "orders o6 roma,spinat,890 25", "orders o8 etna,tonno,1020 26");
        pull("optician_fax_gone", "the last of three merged inputs removed before an un-named aggregate, a named count and a named windowed count; an un-named count of the first in front", FifthCare.FaxGone::before, FifthCare.FaxGone::after)
            .reads("web", 1).reads("shop", 1).reads("fax", 1).writes("web-counts", "branch-cents", "glasses-counts", "order-minutes")
            .first("web o1 round,east,9000 0", "shop o2 oval,west,12000 1", "fax o3 round,port,8000 2", "web o4 square,hill,0 3", "web o4 square,hill,11000 4", "shop o5 sport,east,15000 5", "fax o6 oval,lake,7000 6", "web o7 kids,west,4000 7")
            .then("web o1 oval,east,9500 20", "shop o2 round,west,8800 21", "web o3 sport,port,14000 22", "shop o4 kids,hill,4500 23", "web o5 square,lake,10500 24", "shop o6 oval,port,7200 25", "web o8 round,hill,9100 26");
    }

    static {
        refactorings();
        logic();
        operators();
        settings();
        topics();
    }
}
