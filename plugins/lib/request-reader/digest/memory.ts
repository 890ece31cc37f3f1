import { randomBytes } from 'node:crypto'
import { program } from './program.ts'

/** The marker of placeholders. It is random, so no text of a request contains it. */
export const marker = `<${randomBytes(6).toString('base64url')}>`

/** Longer lists are parsed and hashed without the program: the memory for them would never be freed. */
export const BYTE_LIMIT = 1024 * 1024

/** The program reads and writes a few bytes after the end of a list or text. */
const REGION = BYTE_LIMIT + 4096

/** Offsets in the memory of the program. A list within the limit has at most 8,192 long texts. */
export const offsets = {
  marker: 64,
  given: 4096,
  shortened: 4096 + REGION,
  texts: 4096 + 2 * REGION,
  rows: 4096 + 3 * REGION,
} as const

/** The part of WebAssembly that is used here; Node's types do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

interface Program {
  readonly memory: { readonly buffer: ArrayBuffer }
  scan(
    at: number,
    limit: number,
    long: number,
    marker: number,
    marker_bytes: number,
    shortened: number,
    texts: number,
    rows: number,
  ): number
}

/** The program and its memory, as bytes and as 32-bit numbers. */
interface Loaded {
  readonly scan: Program['scan']
  readonly bytes: Buffer
  readonly numbers: Int32Array
}

const load = (): Loaded | null => {
  try {
    const module = new WebAssembly.Module(Buffer.from(program, 'base64'))
    const { scan, memory } = new WebAssembly.Instance(module, {}).exports as Program
    const { buffer } = memory
    const bytes = Buffer.from(buffer)
    bytes.write(marker, offsets.marker, 'latin1')
    return { scan, bytes, numbers: new Int32Array(buffer) }
  } catch {
    return null
  }
}

/** Loaded for the first list: most commands never read one. */
let loaded: Loaded | null | undefined

/** The loaded program; null without WebAssembly, or without address space for its memory. */
export const loadedProgram = (): Loaded | null => {
  if (loaded === undefined) loaded = load()
  return loaded
}
