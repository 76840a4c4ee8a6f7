import numpy as np

import numeric_table as nt

random = np.random.default_rng(1)
with nt.ShardsWriter.create("parts", ["x", "y"], dtype="int64") as writer:
    for _ in range(5):
        writer.append(random.integers(0, 100, (1000, 2)))

shards = nt.Shards("parts")
shards.append(random.integers(0, 100, (500, 2)))
found = nt.statistics(shards)
print(shards.shape, found.mean.tolist(), found.minimum.tolist())
print(shards[2500].tolist(), shards[-2:, "y"].tolist(), int(shards["x"].sum()))
print(round(float(shards.reduce(nt.Covariance(2)).correlation[0, 1]), 9))
