import numpy as np

import numeric_table as nt

random = np.random.default_rng(0)
with nt.create("big.ntb", ["a", "b", "c"], dtype="float32") as writer:
    for _ in range(20):
        writer.append(random.integers(0, 1000, (5000, 3)))

with nt.open("big.ntb") as big:
    found = nt.statistics(big)
    print(len(big), found.mean.tolist(), found.maximum.tolist())
    print(big[-1].tolist(), big[:2, "b"].tolist())
    with nt.create("large_a.ntb", big.names, dtype="float32") as writer:
        for block in big.row_blocks(8192):
            writer.append(block[block[:, 0] > 900])

print(nt.load("large_a.ntb").shape)
