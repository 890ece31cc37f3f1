import { randomBytes } from 'node:crypto'
import { program } from './program.ts'

/** In every stand-in, and by itself in no text: nobody can guess it. */
export const mark = `<${randomBytes(6).toString('base64url')}>`

/** Longer lists are parsed as they are, and longer texts hashed as they are: what they are written to would be kept. */
export const BYTE_LIMIT = 1024 * 1024

/** Behind a list and a text some bytes more are looked at, or written. */
const REGION = BYTE_LIMIT + 4096

/** Where things stand in the program's memory. Of a list within the limit not more than 8,192 texts can be long ones. */
export const places = {
  mark: 64,
  given: 4096,
  shortened: 4096 + REGION,
  texts: 4096 + 2 * REGION,
  rows: 4096 + 3 * REGION,
} as const

/** As much of WebAssembly as is used; Node's types have none of it. */
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
    mark: number,
    marked: number,
    shortened: number,
    texts: number,
    rows: number,
  ): number
}

/** The program and its memory, as bytes and as numbers of four. */
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
    bytes.write(mark, places.mark, 'latin1')
    return { scan, bytes, numbers: new Int32Array(buffer) }
  } catch {
    return null
  }
}

/** Made for the first list: most commands never read one. */
let loaded: Loaded | null | undefined

/** Null where there is no WebAssembly, or no address space for its memory. */
export const loadedProgram = (): Loaded | null => {
  if (loaded === undefined) loaded = load()
  return loaded
}
