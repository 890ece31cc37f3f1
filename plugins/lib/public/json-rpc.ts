export { type Frame, LineReader, LineWriter, readFrame } from '../json-rpc.ts'
