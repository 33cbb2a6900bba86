#include "modules/arrow/source.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

using arrow::Result;
using arrow::Status;

namespace
{

constexpr int64_t batch_rows = 1 << 16, buffer_bytes = 1 << 20;

/* The bytes as a file for Arrow. */
class File : public arrow::io::RandomAccessFile
{
  public:
    File(const source_bytes &from, arrow::MemoryPool *pool) : bytes(from), memory(pool)
    {
        set_mode(arrow::io::FileMode::READ);
    }

    Status Close() override
    {
        is_closed = true;
        return Status::OK();
    }
    bool closed() const override { return is_closed; }
    Result<int64_t> Tell() const override { return position; }
    Result<int64_t> GetSize() override { return bytes.size; }
    Status Seek(int64_t to) override
    {
        position = to;
        return Status::OK();
    }

    Result<int64_t> Read(int64_t size, void *to) override
    {
        const int64_t got =
            bytes.read ? bytes.read(bytes.self, to, size) : bytes.read_at(bytes.self, position, to, size);
        if (got < 0) return Status::IOError("the file cannot be read");
        position += got;
        return got;
    }

    Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override
    {
        /* Allocate no more than the file can have: a damaged file may claim any size. */
        if (!bytes.read) size = std::min(size, std::max<int64_t>(bytes.size - position, 0));
        ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(size, memory));
        ARROW_ASSIGN_OR_RAISE(const int64_t got, Read(size, buffer->mutable_data()));
        ARROW_RETURN_NOT_OK(buffer->Resize(got));
        return std::shared_ptr<arrow::Buffer>(std::move(buffer));
    }

    Result<int64_t> ReadAt(int64_t at, int64_t size, void *to) override
    {
        const int64_t got = bytes.read_at(bytes.self, at, to, size);
        if (got < 0) return Status::IOError("the file cannot be read");
        return got;
    }

    Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t at, int64_t size) override
    {
        size = std::min(size, std::max<int64_t>(bytes.size - at, 0));
        ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(size, memory));
        ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(at, size, buffer->mutable_data()));
        ARROW_RETURN_NOT_OK(buffer->Resize(got));
        return std::shared_ptr<arrow::Buffer>(std::move(buffer));
    }

    /* Read synchronously: histo's own threads read other parts at the same time. */
    arrow::Future<std::shared_ptr<arrow::Buffer>> ReadAsync(const arrow::io::IOContext &, int64_t at,
                                                            int64_t size) override
    {
        return arrow::Future<std::shared_ptr<arrow::Buffer>>::MakeFinished(ReadAt(at, size));
    }

  private:
    source_bytes bytes;
    arrow::MemoryPool *memory;
    int64_t position = 0;
    bool is_closed = false;
};

} // namespace

struct source {
    source_format format;
    arrow::MemoryPool *pool;
    std::shared_ptr<File> file;
    std::unique_ptr<parquet::arrow::FileReader> parquet;
    std::shared_ptr<arrow::ipc::RecordBatchFileReader> batches;
    std::shared_ptr<arrow::RecordBatchReader> rows;
    std::shared_ptr<arrow::Schema> schema;
    int next = 0, end = 0;
};

namespace
{

/* Call code of Arrow's, which may throw. Returns its value, or -1 with why. */
template <class Function>
int guarded(source_error *why, Function function)
{
    Status status;
    int value = 0;
    try {
        status = function(&value);
    } catch (const std::exception &e) {
        status = Status::Invalid(e.what());
    }
    if (status.ok()) return value;
    std::snprintf(why->text, sizeof why->text, "%s", status.message().c_str());
    if (char *end = std::strchr(why->text, '\n')) *end = '\0';
    return -1;
}

/* The memory pool of all sources. It is never freed: Arrow may return memory to it after sources are closed. */
arrow::MemoryPool *pool_of(int64_t most)
{
    static auto *const pool = new arrow::CappedMemoryPool(arrow::default_memory_pool(), most);
    return pool;
}

Status open_parquet(source *s)
{
    auto properties = parquet::ReaderProperties(s->pool);
    properties.enable_buffered_stream(); /* do not read whole columns of a row group at once */
    properties.set_buffer_size(buffer_bytes);
    parquet::arrow::FileReaderBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Open(s->file, properties));
    parquet::ArrowReaderProperties as(false);
    as.set_batch_size(batch_rows);
    as.set_pre_buffer(false);
    const auto *leaves = builder.raw_reader()->metadata()->schema();
    for (int i = 0; i < leaves->num_columns(); i++) {
        const auto *leaf = leaves->Column(i);
        if (leaf->path()->ToDotVector().size() == 1 && leaf->logical_type()->is_string())
            as.set_read_dictionary(i, true);
    }
    builder.memory_pool(s->pool)->properties(as);
    ARROW_ASSIGN_OR_RAISE(s->parquet, builder.Build());
    return s->parquet->GetSchema(&s->schema);
}

arrow::ipc::IpcReadOptions options_of(const source *s)
{
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = s->pool;
    options.use_threads = false;
    return options;
}

} // namespace

source *source_open(source_format format, const source_bytes *bytes, int64_t memory, source_error *why)
{
    source *s = nullptr;
    const int failed = guarded(why, [&](int *) -> Status {
        s = new source;
        s->format = format;
        s->pool = pool_of(memory);
        s->file = std::make_shared<File>(*bytes, s->pool);
        if (format == SOURCE_PARQUET) return open_parquet(s);
        if (format == SOURCE_FILE) {
            ARROW_ASSIGN_OR_RAISE(s->batches, arrow::ipc::RecordBatchFileReader::Open(s->file, options_of(s)));
            s->schema = s->batches->schema();
            return Status::OK();
        }
        ARROW_ASSIGN_OR_RAISE(s->rows, arrow::ipc::RecordBatchStreamReader::Open(s->file, options_of(s)));
        s->schema = s->rows->schema();
        return Status::OK();
    });
    if (!failed) return s;
    delete s;
    return nullptr;
}

void source_close(source *s)
{
    delete s;
}

int source_schema(source *s, struct ArrowSchema *schema, source_error *why)
{
    return guarded(why, [&](int *) { return arrow::ExportSchema(*s->schema, schema); });
}

int source_groups(const source *s)
{
    return s->parquet ? s->parquet->num_row_groups() : s->batches ? s->batches->num_record_batches() : 0;
}

int source_begin(source *s, int first, int end, const int *fields, int count, source_error *why)
{
    return guarded(why, [&](int *) -> Status {
        const std::vector<int> wanted(fields, fields + count);
        s->next = first;
        s->end = end;
        if (s->format == SOURCE_PARQUET) {
            std::vector<int> groups;
            for (int i = first; i < end; i++)
                groups.push_back(i);
            ARROW_ASSIGN_OR_RAISE(s->rows, s->parquet->GetRecordBatchReader(groups, wanted));
        } else if (s->format == SOURCE_FILE) {
            auto options = options_of(s);
            options.included_fields = wanted;
            ARROW_ASSIGN_OR_RAISE(s->batches, arrow::ipc::RecordBatchFileReader::Open(s->file, options));
        }
        return Status::OK();
    });
}

int source_fields(source *s, struct ArrowSchema *schema, source_error *why)
{
    return guarded(
        why, [&](int *) { return arrow::ExportSchema(s->rows ? *s->rows->schema() : *s->batches->schema(), schema); });
}

int source_next(source *s, struct ArrowArray *out, source_error *why)
{
    return guarded(why, [&](int *more) -> Status {
        std::shared_ptr<arrow::RecordBatch> batch;
        if (s->rows) {
            ARROW_RETURN_NOT_OK(s->rows->ReadNext(&batch));
        } else if (s->next < s->end) {
            ARROW_ASSIGN_OR_RAISE(batch, s->batches->ReadRecordBatch(s->next++));
        }
        if (!batch) return Status::OK();
        if (s->format != SOURCE_PARQUET) ARROW_RETURN_NOT_OK(batch->ValidateFull()); /* later code trusts it */
        *more = 1;
        return arrow::ExportRecordBatch(*batch, out);
    });
}
