export { otlpAttributes, otlpSpanJson, readConvertedFile, readSessionFile } from '../otlp.ts'
