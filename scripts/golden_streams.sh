#!/bin/sh
# Write the descriptions that Kafka Streams prints for each topology of the test applications:
# without an argument of the release in the jars, with one (1.0.2, 2.8.2) of that older release.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
golden="$root/tests/golden/streams"
run="java -Xmx256m -XX:+UseSerialGC -cp"
if [ $# -eq 0 ]; then
    jars=$("$root/.venv/bin/python" -c 'from headgate.gateway.process.jars import jars_folder; print(jars_folder())')
    release=$(ls "$jars/streams" | sed -n 's/^kafka-streams-\(.*\)\.jar$/\1/p')
    $run "$jars/streams/*" "$root/tests/gateway/kafka_streams/TestApplication.java" describe "$golden/$release"
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/ivy.xml" <<XML
<ivy-module version="2.0">
  <info organisation="headgate" module="older-streams"/>
  <dependencies><dependency org="org.apache.kafka" name="kafka-streams" rev="$1" conf="*->default"/></dependencies>
</ivy-module>
XML
ivy=$(ls "$root"/.venv/lib/python*/site-packages/pyspark/jars/ivy-*.jar)
java -jar "$ivy" -ivy "$work/ivy.xml" -retrieve "$work/jars/[artifact]-[revision].[ext]" > "$work/ivy.log"
# Two classes have other names since 2.0 and 2.4.
case $1 in
    1.*) cp "$root/tests/gateway/kafka_streams/OldApplication.java" "$work" ;;
    *) sed -e 's/streams\.Consumed;/streams.kstream.Consumed;/' \
           -e 's/Joined\.with(/org.apache.kafka.streams.kstream.StreamJoined.with(/' \
           "$root/tests/gateway/kafka_streams/OldApplication.java" > "$work/OldApplication.java" ;;
esac
$run "$work/jars/*" "$work/OldApplication.java" "$golden/$1"
