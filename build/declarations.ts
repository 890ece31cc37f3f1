import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { promisify } from 'node:util'
import { publicSources } from './entries.ts'
import { root } from './project.ts'

const run = promisify(execFile)

/** Writes the declarations that public names reach. Types are checked by `npm run check`. */
export const buildDeclarations = async (folder: string): Promise<void> => {
  // inside of the repository, so that the compiler finds packages
  const work = await mkdtemp(join(root, 'node_modules/.declarations-'))
  try {
    const options = ['--emitDeclarationOnly', '--noCheck', '--outDir', work]
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options], { cwd: root })
    await copyReached(work, folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const copyReached = async (from: string, to: string): Promise<void> => {
  const reached = new Set(publicSources().map(declarationOf))
  for (const file of reached) {
    const text = await readFile(join(from, file), 'utf8')
    for (const [name] of text.matchAll(RELATIVE)) reached.add(declarationOf(posix.join(posix.dirname(file), name)))
    await mkdir(dirname(join(to, file)), { recursive: true })
    await cp(join(from, file), join(to, file))
  }
}

/** Declarations name sources. */
const RELATIVE = /(?<=\bfrom '|\bimport\('|\bfrom "|\bimport\("|^import ['"])\.[^'"]+(?=['"])/gm
const declarationOf = (source: string): string => source.replace(/\.[jt]s$/, '.d.ts')
