import numeric_table as nt

cities, prices = ["Oslo", "Rome", "n/a", "Köln"], ["", "NaN", 12.5, 30, 41]
rows = [f"{2**53 + i},{cities[i % 4]},2024-03-{i % 28 + 1:02},{prices[i % 5]}" for i in range(200)]
with open("messy.csv", "w") as file:
    print("id,city,day,price", *rows, sep="\n", file=file)

sales = nt.read_csv("messy.csv")
print(sales.shape, list(sales.columns))
print(sales["id"][0], str(sales["day"][-1])[:10])
print(sales.isna("price").sum(), sales.isna("city").sum())
print(nt.statistics(sales)["price"]["mean"])
expensive = sales[sales["price"] > 20]
print(len(expensive), list(expensive["city"][:3]))
groups = sales.groupby("city")
print(dict(zip(groups.labels, groups["price"].mean.tolist())))
print(sales.value_counts("city")["count"].tolist())
