import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { Plugin } from 'rolldown'
import { mark } from './location-mark.ts'
import { root } from './project.ts'

/** Files of packages that are read as they are; they stand beside the chunks of packages. WebAssembly is compressed, to a tenth to a third. */
const files: readonly string[] = [
  'libpg-query/wasm/libpg-query.wasm',
  'tree-sitter-bash/tree-sitter-bash.wasm',
  'web-tree-sitter/web-tree-sitter.wasm',
  'idiomorph/dist/idiomorph.esm.js',
]

/** Their packages have licences too, although no JavaScript of one is bundled. */
export const packageFiles: readonly string[] = files.map((file) => join(root, 'node_modules', file))

export const writePackageFiles = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'vendor'), { recursive: true })
  for (const file of packageFiles) {
    const bytes = await readFile(file)
    const isCompressed = file.endsWith('.wasm')
    await writeFile(join(folder, placeOf(file)), isCompressed ? brotliCompressSync(bytes) : bytes)
  }
}

const placeOf = (file: string): string => `vendor/${basename(file)}${file.endsWith('.wasm') ? '.br' : ''}`

/** Where a file is in the package, by the name that our sources resolve. */
export const placeOfPackageFile = (name: string): string => {
  if (!files.includes(name)) throw new Error(`${name} is not in the package: add it to build/package-files.ts.`)
  return placeOf(name)
}

/** Lets the code of packages read what `writePackageFiles` writes. */
export const webAssembly: Plugin = {
  name: 'guard-webassembly',
  transform: {
    filter: { id: /node_modules\/(libpg-query\/wasm|web-tree-sitter)\/[\w-]+\.js$/ },
    handler: (code, id) => {
      const amended = amendments[basename(id)]?.(code)
      return amended === undefined ? undefined : { code: amended }
    },
  },
}

const replaced = (code: string, from: string, to: string): string => {
  if (!code.includes(from)) throw new Error(`A package no longer says "${from}": look where it reads its WebAssembly.`)
  return code.replaceAll(from, to)
}

const DECOMPRESS = `process.getBuiltinModule('node:zlib').brotliDecompressSync`

const bytesOf = (file: string): string =>
  `${DECOMPRESS}(process.getBuiltinModule('node:fs').readFileSync(${mark('filename', placeOfPackageFile(file))}))`

const READ = 'async function getWasmBinary(binaryFile){'
const amendments: Readonly<Record<string, (code: string) => string>> = {
  'libpg-query.js': (code) =>
    replaced(replaced(code, '__dirname', '""'), READ, `${READ}return ${bytesOf('libpg-query/wasm/libpg-query.wasm')};`),
  'web-tree-sitter.js': (code) => {
    const grammars = replaced(code, 'await fs2.readFile(input)', `${DECOMPRESS}(await fs2.readFile(input))`)
    const located = replaced(grammars, 'import.meta.url', mark('url', 'vendor/web-tree-sitter.js'))
    const bytes = bytesOf('web-tree-sitter/web-tree-sitter.wasm')
    return replaced(located, 'var wasmBinary;', `var wasmBinary = ${bytes};`)
  },
}
