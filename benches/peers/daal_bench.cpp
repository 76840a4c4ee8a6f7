// Times DAAL's numeric tables at the jobs that ours/ times, by the same rules: see ours/measure.rs.
//
// Prints a line `job<TAB>daal<TAB>seconds` for each. Results are checked before anything is timed. Arguments are parts
// of the names of jobs; without any, all jobs run. With --quick they are small: a smoke test. compare.py builds this
// program.
#include "daal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <unistd.h>

using namespace daal::data_management;
using Clock = std::chrono::steady_clock;
using Names = std::vector<std::string>;  // one job can be compared with several of ours

static bool quick = false;
static Names asked;
static volatile double sink;

static size_t valueCount() { return size_t(1) << (quick ? 18 : 24); }

static bool wanted(const Names& jobs) {
    auto isAsked = [](const std::string& job) {
        return std::any_of(asked.begin(), asked.end(), [&](const std::string& part) { return job.find(part) != job.npos; });
    };
    return asked.empty() || std::any_of(jobs.begin(), jobs.end(), isAsked);
}

static void require(bool isRight, const Names& jobs) {
    if (isRight) return;
    fprintf(stderr, "%s: a wrong answer\n", jobs[0].c_str());
    exit(1);
}

static void require(const daal::services::Status& status, const Names& jobs) {
    if (status.ok()) return;
    fprintf(stderr, "%s: %s\n", jobs[0].c_str(), status.getDescription());
    exit(1);
}

static double seconds(int calls, const std::function<void()>& run) {
    auto start = Clock::now();
    for (int i = 0; i < calls; i++) run();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Prints the median of 7 to 51 samples of at least 1 ms after a warm-up; one call does the job `executions` times,
// which may be a fraction.
static void report(const Names& jobs, double executions, const std::function<void()>& run) {
    run();
    int calls = 1;
    while (seconds(calls, run) < 1e-3) calls *= 2;
    size_t least = quick ? 3 : 7, most = quick ? 3 : 51;
    std::vector<double> samples;
    auto start = Clock::now();
    while (samples.size() < least || (samples.size() < most && Clock::now() - start < std::chrono::milliseconds(200)))
        samples.push_back(seconds(calls, run) / calls / executions);
    std::sort(samples.begin(), samples.end());
    for (auto& job : jobs) printf("%s\tdaal\t%.9e\n", job.c_str(), samples[samples.size() / 2]);
    fflush(stdout);
}

// The values of ours/plain.rs: from 0 to 247.5.
template <typename T>
static T sample(size_t i) {
    double value = double(i * 7 % 251) * 0.99;
    return std::is_integral<T>::value ? T(std::trunc(value)) : T(value);
}

template <typename T>
using Table = daal::services::SharedPtr<HomogenNumericTable<T>>;

template <typename T>
static Table<T> sampleTable(size_t columns) {
    auto table = HomogenNumericTable<T>::create(columns, valueCount() / columns, NumericTable::doAllocate);
    T* values = table->getArray();
    for (size_t i = 0; i < valueCount(); i++) values[i] = sample<T>(i);
    return table;
}

// Calls `look` with every block of rows.
template <typename T, typename U, typename Look>
static void walk(const Table<T>& table, size_t blockRows, ReadWriteMode mode, BlockDescriptor<U>& block, const Names& jobs,
                 const Look& look) {
    size_t rows = table->getNumberOfRows();
    for (size_t first = 0; first < rows; first += blockRows) {
        auto status = table->getBlockOfRows(first, blockRows, mode, block);
        if (!status.ok()) require(status, jobs);
        look(block.getBlockPtr(), block.getNumberOfRows() * block.getNumberOfColumns());
        table->releaseBlockOfRows(block);
    }
}

template <typename T, typename U>
static void readBlocks(const Names& jobs, size_t columns, size_t blockRows, bool perRow = false) {
    if (!wanted(jobs)) return;
    auto table = sampleTable<T>(columns);
    size_t rows = table->getNumberOfRows(), at = 0;
    if (blockRows == 0) blockRows = rows;
    const T* source = table->getArray();
    bool isRight = true;
    BlockDescriptor<U> block;
    walk(table, blockRows, readOnly, block, jobs, [&](const U* values, size_t count) {
        for (size_t i = 0; i < count; i++) isRight &= values[i] == U(source[at++]);
    });
    require(isRight && at == valueCount(), jobs);
    report(jobs, perRow ? double(rows) : 1, [&] {
        walk(table, blockRows, readOnly, block, jobs, [](const U* values, size_t) { sink = double(values[0]); });
    });
}

// Changes one value of each block, to another value in each pass. DAAL converts the whole block back: unchanged values
// lose what `U` cannot represent.
template <typename T, typename U>
static void writeBack(const Names& jobs, size_t blockRows) {
    if (!wanted(jobs)) return;
    auto table = sampleTable<T>(16);
    BlockDescriptor<U> block;
    auto change = [&](int pass) {
        walk(table, blockRows, readWrite, block, jobs, [pass](U* values, size_t) { values[0] = U(pass); });
    };
    change(100);
    const T* values = table->getArray();
    bool isRight = true;
    for (size_t i = 0; i < valueCount(); i++)
        isRight &= values[i] == (i % (blockRows * 16) == 0 ? T(100) : T(U(sample<T>(i))));
    require(isRight, jobs);
    int pass = 0;
    report(jobs, 1, [&] { change(pass ^= 1); });
}

// Changes the first value of every row, one row at a time, to another value in each pass: through blocks of rows, or
// with `byValue` through the row's pointer from `operator[]`, since DAAL has no call that sets one value.
template <typename U>
static void writeRows(const Names& jobs, bool byValue = false) {
    if (!wanted(jobs)) return;
    auto table = sampleTable<float>(16);
    size_t rows = table->getNumberOfRows();
    BlockDescriptor<U> block;
    auto change = [&](int pass) {
        if (!byValue) return walk(table, 1, readWrite, block, jobs, [pass](U* values, size_t) { values[0] = U(pass); });
        for (size_t row = 0; row < rows; row++) (*table)[row][0] = U(pass);
    };
    change(100);
    const float* values = table->getArray();
    bool isRight = true;
    for (size_t i = 0; i < valueCount(); i++) isRight &= values[i] == (i % 16 == 0 ? 100.f : sample<float>(i));
    require(isRight, jobs);
    int pass = 0;
    report(jobs, double(rows), [&] { change(pass ^= 1); });
}

// Reads every column of a row-major table in turn.
static void readColumns(const Names& jobs) {
    if (!wanted(jobs)) return;
    const size_t columns = 16;
    auto table = sampleTable<float>(columns);
    size_t rows = table->getNumberOfRows();
    BlockDescriptor<double> block;
    auto walkColumns = [&](const std::function<void(size_t, const double*)>& look) {
        for (size_t column = 0; column < columns; column++) {
            require(table->getBlockOfColumnValues(column, 0, rows, readOnly, block), jobs);
            look(column, block.getBlockPtr());
            table->releaseBlockOfColumnValues(block);
        }
    };
    const float* source = table->getArray();
    bool isRight = true;
    walkColumns([&](size_t column, const double* values) {
        for (size_t row = 0; row < rows; row++) isRight &= values[row] == double(source[row * columns + column]);
    });
    require(isRight, jobs);
    report(jobs, 1, [&] { walkColumns([](size_t, const double* values) { sink = values[0]; }); });
}

static void fill(const Names& jobs) {
    if (!wanted(jobs)) return;
    auto create = [] { return HomogenNumericTable<float>::create(16, valueCount() / 16, NumericTable::doAllocate, 3.f); };
    {
        auto table = create();
        const float* values = table->getArray();
        require(std::all_of(values, values + valueCount(), [](float value) { return value == 3.f; }), jobs);
    }
    report(jobs, 1, [&] { sink = create()->getArray()[0]; });
}

// Serializes into an archive and copies that out, into reused memory.
static void toBytes(const Table<float>& table, std::vector<daal::byte>& bytes) {
    InputDataArchive archive;
    table->serialize(archive);
    bytes.resize(archive.getSizeOfArchive());
    archive.copyArchiveToArray(bytes.data(), bytes.size());
}

static Table<float> fromBytes(std::vector<daal::byte>& bytes) {
    OutputDataArchive archive(bytes.data(), bytes.size());
    auto table = HomogenNumericTable<float>::create();
    table->deserialize(archive);
    return table;
}

static void requireSample(const Table<float>& table, const Names& jobs) {
    const float* values = table->getArray();
    bool isRight = table->getNumberOfColumns() == 16 && table->getNumberOfRows() == valueCount() / 16;
    for (size_t i = 0; isRight && i < valueCount(); i++) isRight = values[i] == sample<float>(i);
    require(isRight, jobs);
}

static void archives(const Names& write, const Names& read) {
    if (!wanted(write) && !wanted(read)) return;
    auto table = sampleTable<float>(16);
    std::vector<daal::byte> bytes;
    toBytes(table, bytes);
    requireSample(fromBytes(bytes), read);
    if (wanted(write)) report(write, 1, [&] { toBytes(table, bytes); });
    if (wanted(read)) report(read, 1, [&] { sink = fromBytes(bytes)->getArray()[5]; });
}

// Archives as temporary files. Memory for the bytes is reused.
static void files(const Names& save, const Names& load) {
    if (!wanted(save) && !wanted(load)) return;
    auto table = sampleTable<float>(16);
    auto path = std::filesystem::temp_directory_path() / ("table." + std::to_string(getpid()) + ".daal");
    std::vector<daal::byte> bytes;
    auto saveFile = [&] {
        toBytes(table, bytes);
        FILE* file = fopen(path.c_str(), "wb");
        bool isWritten = file && fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
        require(file && fclose(file) == 0 && isWritten, save);
    };
    auto loadFile = [&] {
        bytes.resize(std::filesystem::file_size(path));
        FILE* file = fopen(path.c_str(), "rb");
        require(file && fread(bytes.data(), 1, bytes.size(), file) == bytes.size(), load);
        fclose(file);
        return fromBytes(bytes);
    };
    saveFile();
    requireSample(loadFile(), load);
    if (wanted(save)) report(save, 1, saveFile);
    FILE* file = fopen(path.c_str(), "rb");
    require(file && fsync(fileno(file)) == 0, load);  // so that the disk is not busy with it while it is read
    fclose(file);
    if (wanted(load)) report(load, 1, [&] { sink = loadFile()->getArray()[5]; });
    std::filesystem::remove(path);
}

// Reads the first rows of a CSV file; the time is scaled to the whole file by the number of bytes.
static void csv(const Names& jobs) {
    const char* path = getenv("NUMBERS_CSV");
    if (!path || !wanted(jobs)) return;
    std::ifstream file(path);
    std::vector<std::string> lines;
    size_t rows = quick ? 2000 : 200000, bytes = 0;
    for (std::string line; lines.size() <= rows && std::getline(file, line);) lines.push_back(line + "\n");
    for (auto& line : lines) bytes += line.size();
    auto load = [&] {
        FileDataSource<CSVFeatureManager, double> source(path, CsvDataSourceOptions(
            CsvDataSourceOptions::allocateNumericTable | CsvDataSourceOptions::createDictionaryFromContext |
            CsvDataSourceOptions::parseHeader));
        require(source.loadDataBlock(rows) == rows, jobs);
        return source.getNumericTable();
    };
    auto table = load();
    BlockDescriptor<double> block;
    require(table->getBlockOfRows(0, rows, readOnly, block), jobs);
    bool isRight = table->getNumberOfRows() == rows;
    for (size_t row = 0, columns = table->getNumberOfColumns(); row < rows; row++) {
        const char* text = lines[row + 1].c_str();
        for (size_t column = 0; column < columns; column++) {
            char* end;
            double value = strtod(text, &end), found = block.getBlockPtr()[row * columns + column];
            isRight &= std::fabs(value - found) <= 1e-6 * std::fabs(value);  // DAAL reads them as `float`
            text = end + 1;
        }
    }
    table->releaseBlockOfRows(block);
    require(isRight, jobs);
    report(jobs, double(bytes) / double(std::filesystem::file_size(path)), [&] { sink = double(load()->getNumberOfRows()); });
}

template <typename T, typename U>
static void readGrid(const std::string& pair) {
    for (size_t columns : {16, 128}) {
        std::string prefix = "rows/" + pair + "/" + std::to_string(columns) + "_columns/";
        if (pair == "f32_to_f64") readBlocks<T, U>({prefix + "256_rows"}, columns, 256);
        readBlocks<T, U>({prefix + "8192_rows"}, columns, 8192);
        readBlocks<T, U>({prefix + "whole"}, columns, 0);
    }
}

// The value at a row and a column of the tables of ours/kinds.rs.
static double placed(size_t row, size_t column) { return double((row * 16 + column) * 7 % 251) * 0.99; }

template <typename T>
static std::vector<T> placedColumn(size_t column) {
    std::vector<T> values(valueCount() / 16);
    for (size_t row = 0; row < values.size(); row++)
        values[row] = std::is_integral<T>::value ? T(std::trunc(placed(row, column))) : T(placed(row, column));
    return values;
}

static NumericTablePtr placedPart(size_t firstRow, size_t rows, size_t firstColumn, size_t columns) {
    auto table = HomogenNumericTable<float>::create(columns, rows, NumericTable::doAllocate);
    float* values = table->getArray();
    for (size_t i = 0; i < rows * columns; i++) values[i] = float(placed(firstRow + i / columns, firstColumn + i % columns));
    return table;
}

static double storedAsFloat(size_t row, size_t column) { return double(float(placed(row, column))); }

// What a table of columns of these types stores: `f`, `d`, or `i` for integers.
static std::function<double(size_t, size_t)> storedAs(const std::string& types) {
    return [types](size_t row, size_t column) {
        double value = placed(row, column);
        return types[column] == 'f' ? double(float(value)) : types[column] == 'd' ? value : std::trunc(value);
    };
}

// Reads a table of another kind in blocks of rows, or as one block if `blockRows` is 0; with `writes`, changes the
// first value of each block.
template <typename U>
static void kind(const std::string& name, const char* type, NumericTable& table, size_t blockRows, bool writes = false,
                 const std::function<double(size_t, size_t)>& stored = storedAsFloat) {
    Names jobs = {"kinds/" + name + "_to_" + type + "/" + (blockRows ? std::to_string(blockRows) + "_rows" : "whole")};
    if (!wanted(jobs)) return;
    size_t rows = table.getNumberOfRows(), columns = table.getNumberOfColumns();
    if (blockRows == 0) blockRows = rows;
    BlockDescriptor<U> block;
    auto walkKind = [&](const std::function<void(U*, size_t)>& look) {
        for (size_t first = 0; first < rows; first += blockRows) {
            auto status = table.getBlockOfRows(first, blockRows, writes ? readWrite : readOnly, block);
            if (!status.ok()) require(status, jobs);
            look(block.getBlockPtr(), block.getNumberOfRows());
            table.releaseBlockOfRows(block);
        }
    };
    if (writes) {
        int pass = 0;
        report(jobs, 1, [&] {
            pass ^= 1;
            walkKind([pass](U* values, size_t) { values[0] = U(pass); });
        });
        return;
    }
    bool isRight = true;
    size_t row = 0;
    walkKind([&](U* values, size_t count) {
        for (size_t end = row + count; row < end; row++, values += columns)
            for (size_t column = 0; column < columns; column++)
                isRight &= double(values[column]) == stored(row, column);
    });
    require(isRight && row == rows, jobs);
    report(jobs, 1, [&] { walkKind([](U* values, size_t) { sink = double(values[0]); }); });
}

// Records of one type, and of several: 64 and 24 bytes.
static void records(size_t rows) {
    struct Wide { float values[16]; };
    struct Point { float x, y; int category; double value; };
    std::vector<Wide> wide(rows);
    std::vector<Point> points(rows);
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < 16; column++) wide[row].values[column] = float(placed(row, column));
        points[row] = {float(placed(row, 0)), float(placed(row, 1)), int(placed(row, 2)), placed(row, 3)};
    }
    auto ofWide = AOSNumericTable::create(wide.data(), 16, rows);
    auto ofPoints = AOSNumericTable::create(points.data(), 4, rows);
    for (size_t column = 0; column < 16; column++) ofWide->setFeature<float>(column, column * sizeof(float));
    ofPoints->setFeature<float>(0, offsetof(Point, x));
    ofPoints->setFeature<float>(1, offsetof(Point, y));
    ofPoints->setFeature<int>(2, offsetof(Point, category));
    ofPoints->setFeature<double>(3, offsetof(Point, value));
    for (size_t blockRows : {1, 256, 0}) kind<double>("aos/16_f32", "f64", *ofWide, blockRows);
    for (size_t blockRows : {256, 0}) kind<double>("aos/mixed", "f64", *ofPoints, blockRows, false, storedAs("ffid"));
}

// The columns of a sparse table are in groups of ten: a row stores one value of each group.
static const size_t SPARSE_COLUMNS = 100, STORED = 10, GROUP = SPARSE_COLUMNS / STORED;

static size_t sparseColumn(size_t row, size_t group) { return group * GROUP + (row * 7 + group) % GROUP; }

static double storedSparsely(size_t row, size_t column) {
    return sparseColumn(row, column / GROUP) == column ? storedAsFloat(row, column) : 0;
}

// Reads blocks of 256 rows without their zeros: offsets, indices and values.
template <typename U>
static void sparseBlocks(const Names& jobs, CSRNumericTable& table) {
    if (!wanted(jobs)) return;
    const size_t blockRows = 256, rows = table.getNumberOfRows();
    CSRBlockDescriptor<U> block;
    auto walkBlocks = [&](const std::function<void(size_t)>& look) {
        for (size_t first = 0; first < rows; first += blockRows) {
            auto status = table.getSparseBlock(first, blockRows, readOnly, block);
            if (!status.ok()) require(status, jobs);
            look(first);
            table.releaseSparseBlock(block);
        }
    };
    bool isRight = true;
    walkBlocks([&](size_t first) {
        size_t count = std::min(blockRows, rows - first);
        const size_t *offsets = block.getBlockRowIndicesPtr(), *columns = block.getBlockColumnIndicesPtr();
        for (size_t i = 0; i <= count; i++) isRight &= offsets[i] == 1 + i * STORED;
        for (size_t i = 0; i < count * STORED; i++) {
            size_t row = first + i / STORED, column = sparseColumn(row, i % STORED);
            isRight &= columns[i] == 1 + column && double(block.getBlockValuesPtr()[i]) == storedAsFloat(row, column);
        }
    });
    require(isRight, jobs);
    report(jobs, 1, [&] {
        walkBlocks([&](size_t) {
            sink = double(block.getBlockValuesPtr()[0]);
            sink = double(block.getBlockRowIndicesPtr()[1] + block.getBlockColumnIndicesPtr()[0]);
        });
    });
}

// Reads each column of a sparse table, with its zeros.
static void sparseColumns(const Names& jobs, CSRNumericTable& table) {
    if (!wanted(jobs)) return;
    size_t rows = table.getNumberOfRows();
    BlockDescriptor<float> block;
    auto walkColumns = [&](const std::function<void(size_t, const float*)>& look) {
        for (size_t column = 0; column < SPARSE_COLUMNS; column++) {
            require(table.getBlockOfColumnValues(column, 0, rows, readOnly, block), jobs);
            look(column, block.getBlockPtr());
            table.releaseBlockOfColumnValues(block);
        }
    };
    bool isRight = true;
    walkColumns([&](size_t column, const float* values) {
        for (size_t row = 0; row < rows; row++) isRight &= double(values[row]) == storedSparsely(row, column);
    });
    require(isRight, jobs);
    report(jobs, 1, [&] { walkColumns([](size_t, const float* values) { sink = values[0]; }); });
}

// A sparse table, whose offsets and indices are counted from one.
static void sparse(size_t rows) {
    std::vector<float> values(rows * STORED);
    std::vector<size_t> columns(rows * STORED), offsets(rows + 1);
    for (size_t row = 0; row <= rows; row++) offsets[row] = 1 + row * STORED;
    for (size_t i = 0; i < values.size(); i++) {
        size_t row = i / STORED, column = sparseColumn(row, i % STORED);
        columns[i] = 1 + column;
        values[i] = float(placed(row, column));
    }
    auto table = CSRNumericTable::create(values.data(), columns.data(), offsets.data(), SPARSE_COLUMNS, rows);
    kind<float>("csr/f32", "f32", *table, 256, false, storedSparsely);
    kind<double>("csr/f32", "f64", *table, 256, false, storedSparsely);
    sparseBlocks<float>({"kinds/csr/sparse/f32_to_f32/256_rows"}, *table);
    sparseBlocks<double>({"kinds/csr/sparse/f32_to_f64/256_rows"}, *table);
    sparseColumns({"kinds/csr/columns/f32_to_f32/whole"}, *table);
}

static void kinds() {
    if (!wanted({"kinds/"}) && std::none_of(asked.begin(), asked.end(), [](const std::string& part) {
            return part.find("kinds") != part.npos;
        })) return;
    size_t rows = valueCount() / 16;
    std::vector<std::vector<float>> columns;
    for (size_t column = 0; column < 16; column++) columns.push_back(placedColumn<float>(column));
    auto soa = SOANumericTable::create(16, rows), mixed = SOANumericTable::create(4, rows);
    for (size_t column = 0; column < 16; column++) soa->setArray<float>(columns[column].data(), column);
    auto doubles = placedColumn<double>(1);
    auto ints = placedColumn<int>(2);
    auto shorts = placedColumn<short>(3);
    mixed->setArray<float>(columns[0].data(), 0);
    mixed->setArray<double>(doubles.data(), 1);
    mixed->setArray<int>(ints.data(), 2);
    mixed->setArray<short>(shorts.data(), 3);
    for (size_t blockRows : {1, 256, 8192}) kind<double>("soa/f32", "f64", *soa, blockRows);
    kind<float>("soa/f32", "f32", *soa, 256);
    kind<double>("soa/mixed", "f64", *mixed, 256, false, storedAs("fdii"));
    kind<double>("soa_written/f32", "f64", *soa, 256, true);
    records(rows);
    sparse(rows);
    for (size_t tables : {2, 16}) {
        auto merged = MergedNumericTable::create();
        size_t width = 16 / tables;
        for (size_t table = 0; table < tables; table++) merged->addNumericTable(placedPart(0, rows, table * width, width));
        std::string name = "merged/" + std::to_string(tables) + "_tables/f32";
        kind<float>(name, "f32", *merged, 256);
        if (tables != 2) continue;
        kind<double>(name, "f64", *merged, 256);
        kind<float>(name, "f32", *merged, 1);
        kind<double>(name, "f64", *merged, 1);
    }
    for (size_t tables : {16, 1024}) {
        auto merged = RowMergedNumericTable::create();
        size_t height = rows / tables;
        for (size_t table = 0; table < tables; table++) merged->addNumericTable(placedPart(table * height, height, 0, 16));
        std::string name = "row_merged/" + std::to_string(tables) + "_tables/f32";
        kind<float>(name, "f32", *merged, 256);
        if (tables == 16) kind<double>(name, "f64", *merged, 256);
        else kind<float>(name, "f32", *merged, 1);
    }
}

int main(int count, char** arguments) {
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--quick")) quick = true;
        else asked.push_back(arguments[i]);
    }
    readGrid<float, double>("f32_to_f64");
    readGrid<short, float>("i16_to_f32");
    readGrid<unsigned char, float>("u8_to_f32");
    readGrid<double, int>("f64_to_i32");
    readGrid<float, int>("f32_to_i32");
    readBlocks<float, float>({"rows/f32/16_columns/256_rows"}, 16, 256);
    readBlocks<float, float>({"rows/f32/16_columns/8192_rows"}, 16, 8192);
    readBlocks<float, float>({"rows/f32/16_columns/whole"}, 16, 0);
    for (size_t blockRows : {256, 8192}) {
        std::string suffix = "/16_columns/" + std::to_string(blockRows) + "_rows";
        writeBack<float, double>({"write_back/f32_to_f64" + suffix}, blockRows);
        writeBack<double, float>({"write_back/f64_to_f32" + suffix}, blockRows);
    }
    readBlocks<float, double>({"one_row/f32_to_f64/descriptor"}, 16, 1, true);
    readBlocks<float, float>({"one_row/f32/descriptor", "one_row/f32/borrowed"}, 16, 1, true);
    writeRows<double>({"one_row_written/f32_to_f64/descriptor"});
    writeRows<float>({"one_row_written/f32/descriptor", "one_row_written/f32/borrowed"});
    writeRows<float>({"one_value_written/f32"}, true);
    readColumns({"columns/f32_to_f64/one_after_another", "columns/f32_to_f64/at_once"});
    fill({"fill/f32"});
    kinds();
    files({"files/save/f32", "files/save_without_checksums/f32"}, {"files/load/f32"});
    archives({"archive/to_bytes/f32"}, {"archive/from_bytes/f32"});
    csv({"csv/load/f64"});
}
