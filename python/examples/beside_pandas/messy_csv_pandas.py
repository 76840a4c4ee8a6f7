import pandas as pd

cities, prices = ["Oslo", "Rome", "n/a", "Köln"], ["", "NaN", 12.5, 30, 41]
rows = [f"{2**53 + i},{cities[i % 4]},2024-03-{i % 28 + 1:02},{prices[i % 5]}" for i in range(200)]
with open("messy.csv", "w") as file:
    print("id,city,day,price", *rows, sep="\n", file=file)

sales = pd.read_csv("messy.csv", parse_dates=["day"])
print(sales.shape, list(sales.columns))
print(sales["id"][0], str(sales["day"].iloc[-1])[:10])
print(sales["price"].isna().sum(), sales["city"].isna().sum())
print(sales["price"].mean())
expensive = sales[sales["price"] > 20]
print(len(expensive), list(expensive["city"][:3]))
groups = sales.groupby("city")
print(groups["price"].mean().to_dict())
print(sales["city"].value_counts().tolist())
