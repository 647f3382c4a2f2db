#!/bin/sh
# Write the descriptions that Kafka Streams prints for each topology of the test application.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
jars=$("$root/.venv/bin/python" -c 'from headgate.gateway.jars import jars_folder; print(jars_folder())')
version=$(ls "$jars/streams" | sed -n 's/^kafka-streams-\(.*\)\.jar$/\1/p')
java -Xmx256m -XX:+UseSerialGC -cp "$jars/streams/*" "$root/tests/streams/TestApplication.java" \
    describe "$root/tests/golden/streams/$version"
