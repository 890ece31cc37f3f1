import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundleDeclarations } from './declarations/bundle.ts'
import { copyFastifyTypes } from './declarations/fastify.ts'
import { root } from './project.ts'

const run = promisify(execFile)

/** Writes the declarations of public names, with those of packages that they need; resolves to the files of these. Types are checked by `npm run check`. */
export const buildDeclarations = async (folder: string): Promise<readonly string[]> => {
  // inside of the repository, so that the compiler finds packages
  const work = await realpath(await mkdtemp(join(root, 'node_modules/.declarations-')))
  try {
    const options = ['--emitDeclarationOnly', '--noCheck', '--outDir', work]
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options], { cwd: root })
    const bundled = await bundleDeclarations(work, folder)
    return [...bundled, ...(await copyFastifyTypes(join(folder, 'types')))]
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
