import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { PackedPackage } from './packed-package.ts'

/** Tells at the end which files each thread loaded. */
const recorder = `
import { registerHooks } from 'node:module'
import { writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
const loaded = []
registerHooks({
  load(url, context, next) {
    const result = next(url, context)
    if (url.startsWith('file:')) loaded.push({ url, format: result.format })
    return result
  },
})
process.on('exit', () => writeFileSync('loaded-' + threadId + '.json', JSON.stringify(loaded)))
`

/** Starts the gateway of the package. Resolves when it listens. */
const startGateway = async (
  { bin, project, env, program }: PackedPackage,
  flags: readonly string[],
  more: NodeJS.ProcessEnv,
) => {
  const args = [...flags, bin, 'gateway', 'run', '--port', '0', '--config', 'start.yml']
  await writeFile(join(project, 'start.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
  const child = spawn(program, args, { cwd: project, env: { ...env, ...more } })
  let said = ''
  const listening = new Promise<void>((resolve, reject) => {
    const read = (bytes: Buffer): void => {
      said += bytes
      if (said.includes('http://127.0.0.1:')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(said)))
  })
  await listening
  return child
}

/** Starts the gateway and ends it as soon as it listens. Resolves to the files that its main thread loaded. */
export const modulesOfStart = async (packed: PackedPackage): Promise<readonly { url: string; format: string }[]> => {
  await writeFile(join(packed.project, 'recorder.mjs'), recorder)
  const child = await startGateway(packed, ['--import', './recorder.mjs'], {})
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
  return JSON.parse(await readFile(join(packed.project, 'loaded-0.json'), 'utf8'))
}

/** Kills a gateway that has no time to write what it compiled, once there is something. Resolves to whether there is. */
export const keepsCompiled = async (packed: PackedPackage, limit_ms: number): Promise<boolean> => {
  const folder = join(packed.project, 'cache')
  const more = { NODE_DISABLE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: folder }
  const child = await startGateway(packed, [], more)
  const ended = once(child, 'exit')
  const late = performance.now() + limit_ms
  while (!hasFiles(folder) && performance.now() < late) await setTimeout(100)
  child.kill('SIGKILL')
  await ended
  return hasFiles(folder)
}

const hasFiles = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile())
