/**
 * Changes as pull requests make them, of six trades; nothing here says how they end.
 *
 * Each names the class with the code of both versions: `before(StreamsBuilder, prefix)` and
 * `after(...)`, or `build` where only settings or topics change. PullApplication runs either.
 */
final class PullCases {
    private PullCases() { }

    /** Adds them to Cases.ALL. */
    static void load() { }

    static Case pull(String name, String change, Case.Build before, Case.Build after) { return Cases.add(name, change, before, after).ownTopics(); }

    static void shops() {
        pull("shop_totals_method_references", "lambdas -> method references, the aggregation in a method of its own", PullShops.TotalsWithNames::before, PullShops.TotalsWithNames::after)
            .reads("orders", 2).reads("customers", 1).writes("totals")
            .first("customers ann Ann,gold 0", "customers bob Bob,new 0.5", "orders o1 ann,tea,12 1", "orders o2 bob,cup,3 2", "orders o3 ann,pot,20 3", "orders o4 cid,tea,5 4")
            .then("orders o5 ann,cup,7 20", "orders o6 bob,bad,0 21", "customers cid Cid,new 22", "orders o7 cid,pot,9 23", "customers bob Robert,gold 24");
        pull("shop_latest_reduce_to_table", "groupByKey().reduce(newest) -> toTable() with the same store, counted by status behind", PullShops.LatestStatus::before, PullShops.LatestStatus::after)
            .reads("status", 1).writes("latest", "counts")
            .first("status o1 new,north 0", "status o2 new,south 1", "status o3 new,north 2", "status o1 paid,north 3")
            .then("status o2 paid,south 20", "status o1 sent,north 21", "status o4 new,south 22");
        pull("shop_test_orders_dropped", "filterNot for test accounts before an un-named aggregate that joins a table", PullShops.TestOrders::before, PullShops.TestOrders::after)
            .reads("baskets", 1).reads("vouchers", 1).writes("basket-views")
            .first("vouchers c1 V10 0", "baskets c1 web,tea 1", "baskets c2 web,cup 2", "baskets c3 test,pot 3", "baskets c1 app,pot 4")
            .then("baskets c2 app,tea 20", "vouchers c2 V20 21", "baskets c1 web,cup 22", "baskets c3 test,tea 23");
        pull("shop_minimum_amount_raised", "the filter's smallest amount: 10 -> 20", PullShops.MinimumAmount::before, PullShops.MinimumAmount::after)
            .reads("sales", 2).writes("revenue")
            .first("sales s1 tea,12 0", "sales s2 cup,25 1", "sales s1 pot,30 2", "sales s3 tea,15 3")
            .then("sales s1 tea,12 20", "sales s2 pot,40 21", "sales s3 pot,22 22");
        pull("shop_duplicates_dropped", "a processor that drops repeated payments, with a store of its own, before a named aggregate", PullShops.DuplicatesDropped::before, PullShops.DuplicatesDropped::after)
            .reads("payments", 1).writes("paid")
            .first("payments c1 p1,10 0", "payments c2 p2,20 1", "payments c1 p3,5 2")
            .then("payments c1 p4,7 20", "payments c2 p2,20 21", "payments c1 p4,7 22", "payments c3 p5,1 23");
        pull("shop_rates_join_removed", "the join with the table of rates removed before a named aggregate and an un-named windowed count", PullShops.OneCurrency::before, PullShops.OneCurrency::after)
            .reads("sales", 1).reads("rates", 1).writes("revenue", "sales-counts")
            .first("rates eur 1 0", "rates chf 1 0.5", "sales eur de,10 1", "sales chf ch,20 2", "sales eur fr,5 3", "sales eur de,4 4")
            .then("sales eur de,6 20", "sales chf ch,1 21", "sales eur at,2 22");
        pull("shop_exactly_once", "processing.guarantee: at_least_once -> exactly_once_v2, more threads", PullShops.ExactlyOnce::build, PullShops.ExactlyOnce::build)
            .now("processing.guarantee", "exactly_once_v2").now("num.stream.threads", "2").reads("stock", 2).writes("levels", "low-shelves")
            .first("stock a1 10 0", "stock b1 3 1", "stock a2 7 2", "stock a1 -8 3")
            .then("stock a1 -1 20", "stock b1 1 21", "stock a2 -7 22", "stock c1 9 23");
        pull("shop_orders_version_two", "the input orders -> orders.v2, which begins with the later records; all named", PullShops.OrdersVersionTwo::before, PullShops.OrdersVersionTwo::after)
            .reads("orders", 1).laterReads("orders.v2", 1).writes("spent")
            .first("orders c1 10 0", "orders c2 20 1", "orders c1 5 2").then("orders.v2 c1 7 20", "orders.v2 c2 1 21", "orders.v2 c3 4 22");
        pull("shop_visits_peeked", "peek behind named session windows, toStream and map written out", PullShops.CartSessions::before, PullShops.CartSessions::after)
            .reads("clicks", 1).reads("carts", 1).writes("visits")
            .first("clicks v1 home 0", "carts v1 cart 10", "clicks v2 home 12", "clicks v3 tea 14")
            .then("clicks v1 tea 30", "carts v2 cart 35", "clicks v3 cup 60", "clicks v1 home 120");
    }

    static void devices() {
        pull("iot_values_mapped_once", "two mapValues merged into one before an un-named windowed count", PullDevices.ValuesMerged::before, PullDevices.ValuesMerged::after)
            .reads("readings", 1).writes("hot-minutes")
            .first("readings s1 300 0", "readings s2 310 1", "readings s1 280 2", "readings s1 301 3").then("readings s1 305 20", "readings s2 299 21", "readings s3 296 22", "readings s1 270 23");
        pull("iot_commands_peeked", "peek before an un-named join of streams", PullDevices.PeekBeforeJoin::before, PullDevices.PeekBeforeJoin::after)
            .reads("commands", 1).reads("answers", 1).writes("answered")
            .first("commands d1 open 0", "commands d2 close 1", "answers d1 done 2", "commands d3 stop 3").then("answers d2 done 20", "answers d3 fail 21", "commands d4 open 22", "answers d4 done 23");
        pull("iot_merge_turned_round", "a.merge(b) -> b.merge(a) before an un-named reduce", PullDevices.MergeOrder::before, PullDevices.MergeOrder::after)
            .reads("meters-old", 1).reads("meters-smart", 1).writes("street-load")
            .first("meters-old a1 100 0", "meters-smart a2 x,50 1", "meters-old b1 70 2", "meters-smart c1 y,10 3").then("meters-smart a2 x,5 20", "meters-old b1 30 21", "meters-smart d1 z,1 22", "meters-old c2 4 23");
        pull("iot_window_ten_minutes", "the size of named windows: 5 -> 10 minutes", PullDevices.WiderWindow::before, PullDevices.WiderWindow::after)
            .reads("alarms", 1).writes("alarm-counts")
            .first("alarms n1 fire 10", "alarms n1 smoke 100", "alarms n2 smoke 200", "alarms n1 fire 310").then("alarms n1 fire 320", "alarms n2 water 330", "alarms n1 smoke 610", "alarms n3 fire 620");
        pull("iot_placed_only", "leftJoin -> join with a named table, counted by room behind", PullDevices.PlacedOnly::before, PullDevices.PlacedOnly::after)
            .reads("readings", 1).reads("places", 1).writes("placed", "room-counts")
            .first("places d1 hall 0", "readings d1 7 1", "readings d2 8 2", "places d3 attic 3", "readings d3 9 4").then("readings d1 5 20", "readings d2 6 21", "places d2 hall 22", "readings d2 4 23", "readings d3 3 24");
        pull("iot_suppress_removed", "suppress removed behind a named windowed count", PullDevices.NoMoreSuppress::before, PullDevices.NoMoreSuppress::after)
            .reads("pulses", 1).writes("pulse-counts")
            .first("pulses m1 a 0", "pulses m1 b 10", "pulses m2 a 70", "pulses m3 a 80").then("pulses m1 c 90", "pulses m2 b 95", "pulses m1 d 200", "pulses m2 c 210");
        pull("iot_repartitioned_by_site", "groupBy -> repartition to 4 partitions before a named count", PullDevices.RepartitionedBySite::before, PullDevices.RepartitionedBySite::after)
            .reads("faults", 1).writes("fault-counts")
            .first("faults d1 s1,e1 0", "faults d2 s2,e2 1", "faults d3 s1,e1 2").then("faults d1 s1,e3 20", "faults d2 s2,e1 21", "faults d4 s3,e1 22");
        pull("iot_store_moves_to_other_processor", "a named store moves from the processor of one input to that of another", PullDevices.StoreMoves::before, PullDevices.StoreMoves::after)
            .reads("doors", 1).reads("windows", 1).writes("door-changes", "window-changes")
            .first("doors h1 open 0", "windows h1 open 1", "doors h2 shut 2", "windows h3 shut 3").then("doors h1 shut 20", "windows h1 shut 21", "windows h2 open 22", "doors h3 open 23");
        pull("iot_default_value_serde", "default.value.serde: texts -> numbers", PullDevices.DefaultSerde::build, PullDevices.DefaultSerde::build)
            .now("default.value.serde", "org.apache.kafka.common.serialization.Serdes$LongSerde").reads("ticks", 1).writes("last-ticks")
            .first("ticks d1 one 0", "ticks d2 two 1").then("ticks d1 three 20", "ticks d3 four 21");
        pull("iot_readings_more_partitions", "the input of a named aggregate: 1 -> 3 partitions", PullDevices.MorePartitions::build, PullDevices.MorePartitions::build)
            .reads("readings", 1).laterReads("readings", 3).writes("highest", "frost")
            .first("readings s1 20 0", "readings s2 -3 1", "readings s3 7 2").then("readings s1 18 20", "readings s2 4 21", "readings s4 -1 22");
        pull("iot_beats_trimmed", "flatMapValues and filter before a named table, its count and named sliding windows", PullDevices.DevicesOnline::before, PullDevices.DevicesOnline::after)
            .reads("beats", 1).writes("firmware-counts", "beat-counts")
            .first("beats d1 v1 0", "beats d2 v1 3", "beats d1 v1 6", "beats d3 v2 8").then("beats d1 v2 14", "beats d2 v1 15", "beats d3 v2 16", "beats d4 v1 40");
    }

    static void banks() {
        pull("bank_filters_in_one", "filter, filterNot and filter -> one filter before a named aggregate", PullBanks.OneFilter::before, PullBanks.OneFilter::after)
            .reads("bookings", 2).writes("balances")
            .first("bookings a1 cash,100 0", "bookings a2 card,50 1", "bookings a1 test,1 2", "bookings a3 card,0 3").then("bookings a1 card,-30 20", "bookings a2 test,5 21", "bookings a2 cash,5 22", "bookings a3 card,9 23");
        pull("bank_split_for_filters", "filter and filterNot -> split().branch() before named aggregates", PullBanks.SplitForFilters::before, PullBanks.SplitForFilters::after)
            .reads("transfers", 1).writes("incoming", "outgoing")
            .first("transfers a1 in,100 0", "transfers a1 out,40 1", "transfers a2 in,7 2", "transfers a3 out,3 3").then("transfers a1 out,10 20", "transfers a2 in,1 21", "transfers a3 in,9 22", "transfers a3 out,2 23");
        pull("bank_last_foreach_removed", "foreach at the end of a topology with un-named counts removed", PullBanks.ForeachRemoved::before, PullBanks.ForeachRemoved::after)
            .reads("logins", 1).writes("login-counts", "country-counts")
            .first("logins u1 de 0", "logins u2 fr 1", "logins u1 de 2", "logins u3 it 3").then("logins u1 fr 20", "logins u2 fr 21", "logins u4 de 22", "logins u3 it 23");
        pull("bank_longer_grace", "the grace of named windows behind which a named suppress waits: 0 -> 60 seconds", PullBanks.LongerGrace::before, PullBanks.LongerGrace::after)
            .reads("quotes", 1).writes("quote-counts")
            .first("quotes p1 10 0", "quotes p2 20 5", "quotes p1 11 62", "quotes p3 7 64").then("quotes p1 12 70", "quotes p2 21 125", "quotes p3 8 130", "quotes p1 13 190", "quotes p2 22 320");
        pull("bank_large_amounts_and_limits", "filter behind a named aggregate, and a second output for limits", PullBanks.LargeOnly::before, PullBanks.LargeOnly::after)
            .reads("cards", 2).writes("spent", "limits")
            .first("cards k1 90 0", "cards k2 150 1", "cards k3 30 2", "cards k2 500 3").then("cards k1 20 20", "cards k2 400 21", "cards k3 5 22", "cards k4 1100 23");
        pull("bank_volumes_put_first", "an un-named aggregate put above an un-named count of the same input", PullBanks.VolumeAbove::before, PullBanks.VolumeAbove::after)
            .reads("trades", 1).writes("trade-counts", "volumes")
            .first("trades t1 abc,10 0", "trades t2 xyz,5 1", "trades t1 xyz,1 2").then("trades t1 abc,4 20", "trades t2 abc,6 21", "trades t3 xyz,2 22");
        pull("bank_checks_to_disk", "a named store in memory -> on disk, cached", PullBanks.ToDisk::before, PullBanks.ToDisk::after)
            .reads("checks", 2).writes("check-histories")
            .first("checks a1 o 0", "checks a2 x 1", "checks a1 o 2", "checks a3 o 3").then("checks a1 x 20", "checks a2 o 21", "checks a4 o 22");
        pull("bank_topology_optimised", "topology.optimization: none -> all for an un-named table and two un-named aggregates of one key", PullBanks.Optimised::build, PullBanks.Optimised::build)
            .was("topology.optimization", "none").now("topology.optimization", "all").reads("accounts", 1).reads("loans", 1).writes("loan-counts", "loan-sums")
            .first("accounts a1 ann,north 0", "accounts a2 bob,south 0.5", "loans a1 100 1", "loans a2 50 2", "loans a1 20 3").then("loans a1 7 20", "loans a2 3 21", "accounts a3 cid,north 22", "loans a3 9 23");
        pull("bank_outbox_split", "the output of a processor with a named store split by channel into two", PullBanks.OutputSplit::before, PullBanks.OutputSplit::after)
            .reads("messages", 1).writes("outbox", "outbox-mail")
            .first("messages a1 mail,hello 0", "messages a2 sms,hi 1", "messages a3 app,hey 2").then("messages a1 sms,pin 20", "messages a2 sms,code 21", "messages a2 mail,bill 22", "messages a4 mail,hello 23");
        pull("bank_unfilled_orders_too", "join -> leftJoin of un-named streams before an un-named aggregate", PullBanks.UnfilledToo::before, PullBanks.UnfilledToo::after)
            .reads("orders", 1).reads("fills", 1).writes("order-states")
            .first("orders o1 10 0", "fills o1 10 2", "orders o2 5 3", "orders o3 8 4").then("fills o2 5 20", "orders o1 11 22", "fills o1 11 25", "fills o3 8 50", "orders o4 1 60", "orders o5 1 120");
    }

    static void ads() {
        pull("ads_parts_exchanged", "two independent un-named counts are declared in the other order", PullAds.PartsExchanged::before, PullAds.PartsExchanged::after)
            .reads("clicks", 1).reads("views", 1).writes("click-counts", "view-counts")
            .first("clicks k1 ann 0", "views k1 ann 1", "views k1 bob 2", "views k2 cid 3", "clicks k3 dan 4").then("clicks k1 bob 20", "views k2 dan 21", "views k1 eve 22", "clicks k3 eve 23");
        pull("ads_map_to_group_by", "map to another key and groupByKey -> groupBy, un-named", PullAds.MapToGroupBy::before, PullAds.MapToGroupBy::after)
            .reads("bids", 2).writes("highest-bids").first("bids b1 k1,50 0", "bids b2 k2,20 1", "bids b3 k1,70 2", "bids b4 k3,90 3").then("bids b5 k1,60 20", "bids b6 k2,25 21", "bids b7 k3,10 22", "bids b8 k4,5 23");
        pull("ads_topics_in_a_list", "two merges of three streams -> one stream of a list of topics, the store named", PullAds.TopicsInList::before, PullAds.TopicsInList::after)
            .reads("web", 1).reads("app", 1).reads("tv", 1).writes("user-views").first("web u1 a 0", "app u1 b 1", "tv u2 c 2", "web u3 d 3").then("tv u1 e 20", "app u2 f 21", "web u4 g 22", "web u3 h 23");
        pull("ads_attribution_wider", "the window of a named join of streams: 10 -> 60 seconds", PullAds.WiderAttribution::before, PullAds.WiderAttribution::after)
            .reads("views", 1).reads("clicks", 1).writes("attributed").first("views v1 ad1 0", "views v2 ad2 15", "clicks v1 ad1 5", "views v3 ad3 18").then("clicks v2 ad2 22", "clicks v1 ad1 40", "clicks v3 ad3 70", "views v4 ad4 75", "clicks v4 ad4 110");
        pull("ads_spend_per_campaign", "selectKey before a named aggregate: per account -> per campaign of the account", PullAds.PerCampaign::before, PullAds.PerCampaign::after)
            .reads("spend", 1).writes("spend-sums").first("spend a1 k1,10 0", "spend a2 k1,20 1", "spend a1 k2,30 2").then("spend a1 k1,5 20", "spend a2 k2,6 21", "spend a3 k1,7 22");
        pull("ads_clicks_per_minute", "a named count becomes windowed and keeps its store's name", PullAds.ClicksPerMinute::before, PullAds.ClicksPerMinute::after)
            .reads("clicks", 1).writes("click-counts").first("clicks k1 u1 0", "clicks k2 u1 1", "clicks k1 u2 2").then("clicks k1 u3 20", "clicks k2 u3 70", "clicks k3 u1 75");
        pull("ads_budget_logged", "withLoggingDisabled() removed from a named store", PullAds.LoggingEnabled::before, PullAds.LoggingEnabled::after)
            .reads("budgets", 1).writes("budgets-left").first("budgets k1 100 0", "budgets k2 50 1", "budgets k1 30 2").then("budgets k1 5 20", "budgets k2 10 21", "budgets k3 1 22");
        pull("ads_sessions_for_minutes", "named tumbling windows -> session windows, all names kept", PullAds.SessionsForMinutes::before, PullAds.SessionsForMinutes::after)
            .reads("pages", 1).writes("page-counts").first("pages u1 a 0", "pages u1 b 10", "pages u2 a 15").then("pages u1 c 35", "pages u2 b 50", "pages u3 a 90", "pages u1 d 100");
        pull("ads_error_handlers", "handlers of errors that continue, a longer commit interval, a larger poll", PullAds.Handlers::build, PullAds.Handlers::build)
            .now("deserialization.exception.handler", "org.apache.kafka.streams.errors.LogAndContinueExceptionHandler").now("processing.exception.handler", "org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler")
            .now("commit.interval.ms", "500").now("max.poll.records", "2000").reads("events", 1).writes("bought")
            .first("events d1 buy,10 0", "events d2 see,0 1", "events d1 buy,5 2").then("events d1 buy,1 20", "events d2 buy,2 21", "events d3 buy 22", "events d3 buy,3 23");
        pull("ads_dead_letters", "records that can't be read go to an own topic, written before the filter of an un-named aggregate", PullAds.DeadLetters::before, PullAds.DeadLetters::after)
            .reads("raw", 1).writes("costs", "raw-dead-letters").first("raw v1 ad1,10 0", "raw v2 broken 1", "raw v1 ad2,20 2", "raw v3 ad1,4 3").then("raw v1 ad1,1 20", "raw v2 broken 21", "raw v3 ad3,2 22", "raw v2 ad1,9 23");
    }

    static void games() {
        pull("games_named_parts_exchanged", "three independent parts, all named, are declared in the other order", PullGames.NamedPartsExchanged::before, PullGames.NamedPartsExchanged::after)
            .reads("scores", 1).reads("levels", 1).reads("chats", 1).writes("points", "level-counts", "chat-counts")
            .first("scores p1 10 0", "levels p1 l1 1", "chats p1 hi 2", "scores p2 5 3", "levels p2 l1 4", "chats p2 yo 5").then("scores p1 7 20", "levels p3 l1 21", "chats p1 gg 22", "scores p2 1 23", "chats p2 gl 24");
        pull("games_names_for_all", "names given to a table, a join, a grouping and an aggregate that had none", PullGames.NamesForAll::before, PullGames.NamesForAll::after)
            .reads("kills", 1).reads("players", 1).writes("team-kills").first("players p1 red 0", "players p2 blue 0.5", "kills p1 axe 1", "kills p2 bow 2", "kills p1 bow 3").then("kills p1 axe 20", "kills p2 axe 21", "players p3 red 22", "kills p3 bow 23");
        pull("games_values_for_map", "map that keeps the key -> mapValues before a named aggregate: its repartition goes", PullGames.ValuesInPlaceOfMap::before, PullGames.ValuesInPlaceOfMap::after)
            .reads("wins", 2).writes("win-points").first("wins p1 m1,3 0", "wins p2 m1,1 1", "wins p1 m2,3 2", "wins p3 m2,1 3").then("wins p1 m3,1 20", "wins p2 m3,3 21", "wins p4 m4,3 22", "wins p3 m4,1 23");
        pull("games_team_for_player", "selectKey before a named count: the player -> the team", PullGames.TeamForPlayer::before, PullGames.TeamForPlayer::after)
            .reads("goals", 1).writes("goal-counts").first("goals m1 kim,red 0", "goals m1 lee,blue 1", "goals m2 kim,red 2").then("goals m3 kim,red 20", "goals m3 lee,blue 21", "goals m4 sam,red 22");
        pull("games_cogroup_for_two_counts", "two named counts and their outer join -> a cogroup with a store of another name", PullGames.CogroupForTwo::before, PullGames.CogroupForTwo::after)
            .reads("quests", 1).reads("buys", 1).writes("activity").first("quests p1 q1 0", "buys p1 gem 1", "quests p2 q1 2", "quests p1 q2 3").then("quests p1 q3 20", "buys p2 gem 21", "quests p3 q1 22");
        pull("games_tables_for_stream", "a stream joined with a named table becomes a named table joined with it", PullGames.TablesForStream::before, PullGames.TablesForStream::after)
            .reads("moves", 1).reads("ranks", 1).writes("ranked-moves", "rank-counts").first("ranks p1 gold 0", "ranks p2 iron 0.5", "moves p1 e4 1", "moves p2 d4 2", "ranks p3 gold 3").then("moves p1 c5 20", "ranks p2 gold 21", "moves p3 f6 22", "ranks p1 iron 23");
        pull("games_typo_in_store", "a typing error in a store's name put right, a named reduce of its table behind", PullGames.TypoInStore::before, PullGames.TypoInStore::after)
            .reads("scores", 1).writes("best-scores", "medals").first("scores p1 120 0", "scores p2 80 1", "scores p3 50 2").then("scores p1 90 20", "scores p2 70 21", "scores p2 130 22", "scores p4 10 23");
        pull("games_stores_in_memory", "dsl.store.suppliers.class: on disk -> in memory for an un-named join of streams and an un-named count", PullGames.StoresInMemory::build, PullGames.StoresInMemory::build)
            .now("dsl.store.suppliers.class", "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers").reads("invites", 1).reads("joins", 1).reads("joins-of-guilds", 1).writes("accepted", "guild-counts")
            .first("invites p1 g1 0", "joins p1 g1 2", "invites p2 g2 3", "joins-of-guilds g1 p1 4").then("joins p2 g2 20", "joins-of-guilds g1 p9 21", "invites p3 g1 22", "joins p3 g1 23");
        pull("games_regions_by_pattern", "a list of two topics -> a pattern that finds a third, its aggregate named", PullGames.RegionsByPattern::before, PullGames.RegionsByPattern::after)
            .reads("events-eu", 1).reads("events-us", 1).laterReads("events-asia", 1).writes("stories")
            .first("events-eu p1 a 0", "events-us p2 b 1", "events-eu p3 c 2").then("events-us p2 d 20", "events-asia p4 e 21", "events-eu p1 f 22", "events-asia p3 g 23");
    }

    static void logistics() {
        pull("logistics_processors_named", "names given to processors, methods split off; stores and groupings had names", PullLogistics.ProcessorsNamed::before, PullLogistics.ProcessorsNamed::after)
            .reads("scans", 1).reads("depots", 1).reads("drivers", 1).writes("last-scans", "depot-loads")
            .first("depots d1 Bonn 0", "depots d2 Kiel 0.2", "drivers d1 Ida 0.4", "scans s1 d1,IN 1", "scans s2 d2,IN 2", "scans s3 lost 3", "scans s4 d1,IN 4").then("scans s1 d2,OUT 20", "scans s5 d1,IN 21", "drivers d2 Max 22", "depots d1 Ulm 23");
        pull("logistics_one_flat_map", "flatMapValues, filter and mapValues -> one flatMapValues before named windows and a named suppress", PullLogistics.OneFlatMap::before, PullLogistics.OneFlatMap::after)
            .reads("manifests", 1).writes("loads").first("manifests t1 a,b,empty 0", "manifests t2 c 10", "manifests t1 d 65", "manifests t3 e,f 66").then("manifests t1 g,empty 70", "manifests t2 h 80", "manifests t1 i 130", "manifests t3 j 200");
        pull("logistics_store_connected_by_supplier", "addStateStore -> ProcessorSupplier.stores(), filter moved behind the un-named processor with a named store", PullLogistics.ConnectedStore::before, PullLogistics.ConnectedStore::after)
            .reads("positions", 1).writes("moves").first("positions t1 bonn 0", "positions t2 kiel 1", "positions t1 ulm 2").then("positions t1 jena 20", "positions t2 bonn 21", "positions t3 ulm 22");
        pull("logistics_legs_in_brackets", "another text of each leg in a named reduce", PullLogistics.ValueWithSeparator::before, PullLogistics.ValueWithSeparator::after)
            .reads("legs", 1).writes("routes").first("legs s1 bonn 0", "legs s2 kiel 1", "legs s1 ulm 2").then("legs s1 jena 20", "legs s2 bonn 21", "legs s3 ulm 22");
        pull("logistics_depots_global", "a named global table declared last, and a left join with it, beside a named count", PullLogistics.DepotsGlobal::before, PullLogistics.DepotsGlobal::after)
            .reads("stops", 1).reads("depots", 1).writes("stop-counts", "stops-with-city").first("depots d1 bonn 0", "depots d2 kiel 0.5", "stops s1 d1 1", "stops s2 d2 2", "stops s3 d1 3").then("stops s1 d2 20", "stops s4 d1 21", "stops s5 d3 22");
        pull("logistics_carrier_names", "a named foreign-key join added to a named table that was grouped only", PullLogistics.CarrierNames::before, PullLogistics.CarrierNames::after)
            .reads("shipments", 1).reads("carriers", 1).writes("weights", "named-shipments")
            .first("carriers c1 dash 0", "carriers c2 eagle 0.5", "shipments s1 c1,10 1", "shipments s2 c2,20 2", "shipments s3 c1,5 3").then("shipments s1 c2,10 20", "carriers c1 dasher 21", "shipments s4 c1,7 22");
        pull("logistics_wider_receipts", "an input with 3 partitions joined with the named table of an input with 2", PullLogistics.WiderReceipts::before, PullLogistics.WiderReceipts::after)
            .reads("pickups", 2).reads("receipts", 3).writes("couriers", "delivered").first("pickups s1 kim 0", "pickups s2 lee 1", "pickups s3 sam 2").then("pickups s1 lee 20", "receipts s2 ann 21", "receipts s3 bob 22");
    }

    static void travel() {
        pull("rail_sums_peeked_at_the_end", "peek behind the last of three un-named aggregates and two un-named joins", PullTravel.PeekAtTheEnd::before, PullTravel.PeekAtTheEnd::after)
            .reads("bookings", 2).reads("trains", 2).reads("lines", 2).writes("line-counts", "region-sums")
            .first("trains t1 l1 0", "trains t2 l2 0.2", "lines l1 west 0.4", "lines l2 east 0.6", "bookings b1 t1,2,30 1", "bookings b2 t2,1,50 2", "bookings b3 t1,1,20 3")
            .then("bookings b4 t1,2,10 20", "bookings b5 t2,2,5 21", "bookings b6 t3,1,9 22", "bookings b7 t2,1,1 23");
        pull("rail_filter_before_key", "selectKey and filter change places before un-named aggregates, one of a table and one windowed", PullTravel.FilterBeforeKey::before, PullTravel.FilterBeforeKey::after)
            .reads("stops", 1).writes("worst-delays", "worst-stations", "station-counts")
            .first("stops r1 t1,bonn,5 0", "stops r2 t2,kiel,9 1", "stops r3 t1,ulm,2 2", "stops r4 t3,bonn,4 3").then("stops r5 t1,kiel,4 20", "stops r6 t2,bonn,12 21", "stops r7 t3,ulm,1 22", "stops r8 t1,bonn,8 23");
        pull("energy_bad_meters_dropped", "filterNot before a re-keyed left join without a name; all stores are named", PullTravel.NamedStoresOnly::before, PullTravel.NamedStoresOnly::after)
            .reads("meters", 2).reads("houses", 2).writes("house-watts", "tariff-watts")
            .first("houses h1 green 0", "houses h2 basic 0.5", "meters m1 h1,100 1", "meters m2 h2,70 2", "meters m3 h1,5 3").then("meters m1 h1,7 20", "meters m2 h2,3 21", "meters m4 h3,9 22", "meters m3 h1,1 23");
        pull("hotel_one_repartition_for_two", "two named groupings of one key -> one named repartition; the stores keep their names", PullTravel.OneRepartition::before, PullTravel.OneRepartition::after)
            .reads("nights", 1).reads("reviews", 1).writes("guests", "hotels")
            .first("nights n1 h1,ann 0", "nights n2 h2,bob 1", "nights n3 h1,cid 2", "reviews r1 h1,5 3").then("nights n4 h1,dan 20", "nights n5 h2,ann 21", "reviews r2 h2,3 22", "reviews r3 h1,4 23");
        pull("insurance_agents_joined", "a table, a named join, a named grouping and a named count added behind a named aggregate", PullTravel.AgentsJoined::before, PullTravel.AgentsJoined::after)
            .reads("claims", 1).reads("policies", 1).laterReads("agents", 1).writes("claim-sums", "agent-counts")
            .first("policies p1 ann 0", "policies p2 bob 0.5", "claims c1 p1,80 1", "claims c2 p2,300 2", "claims c3 p1,10 3").then("agents ann kim 15", "claims c4 p1,50 20", "claims c5 p2,1 21", "claims c6 p1,5 22");
        pull("taxi_sum_moved_behind_join", "an un-named aggregate is declared behind an un-named join of streams and its count", PullTravel.SumMovedBehindJoin::before, PullTravel.SumMovedBehindJoin::after)
            .reads("trips", 1).reads("cancels", 1).writes("fares", "reasons")
            .first("trips d1 bonn,20 0", "trips d2 kiel,30 1", "cancels d1 late 3", "trips d3 bonn,10 4").then("trips d1 bonn,5 20", "cancels d2 rain 21", "cancels d1 late 22", "trips d4 ulm,7 23");
    }

    static {
        shops();
        devices();
        banks();
        ads();
        games();
        logistics();
        travel();
    }
}
