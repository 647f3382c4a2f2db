"""A double of the world that is all of its own ports: a test writes down only what it asks."""


class FlatPorts:
    kafka = schemas = processes = checkpoints = state = sinks = property(lambda self: self)
    remote_checkpoints = evidence = folders = records = property(lambda self: self)
    spark_jobs = dead_letters = schedules = tables = property(lambda self: self)

    def has_cluster(self):
        """Most worlds have a cluster."""
        return True

    def cluster_id(self):
        """Most worlds are of one cluster."""
        return "c"

    def topics(self, names):
        """Most worlds have topics of their own."""
        raise NotImplementedError(names)

    def identities(self, names):
        """A topic's id and number of partitions, if the double has topics."""
        return {n: (t.id, len(t.partitions)) for n, t in self.topics(names).items()}

    def topic_bytes(self, names):
        """Nobody tells how large topics are."""
        return dict.fromkeys(names)

    def read_quota(self):
        """Most logins have none."""

    def check_import(self, _function):
        """Most functions can be imported."""

    def uncreatable(self, _shapes):
        """Most clusters create what they are asked for."""
        return {}
