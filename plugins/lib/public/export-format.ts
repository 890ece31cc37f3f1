export {
  type ExportOptions,
  exportFormat,
  exportFormatKind,
  type ImportSource,
  importFormat,
  type TraceWriter,
} from '../export-format.ts'
