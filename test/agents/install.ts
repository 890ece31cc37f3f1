import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Agent } from './agents.ts'

const run = promisify(execFile)
const LIMIT_MS = 600_000

/** Installs agents into a folder, with no install script but those that unpack the agent itself. */
export const install = async (folder: string, agents: readonly Agent[]): Promise<void> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}', { flag: 'wx' }).catch(() => {})
  const wanted: Agent[] = []
  for (const agent of agents) if (!(await isThere(folder, agent))) wanted.push(agent)
  if (wanted.length === 0) return
  const packages = wanted.map((agent) => `${agent.package}@${agent.version}`)
  // npm runs on the Node that runs this
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages]
  await run('npm', npm, { cwd: folder, env, timeout: LIMIT_MS })
  for (const { package: name, prepare } of wanted) {
    const cwd = join(folder, 'node_modules', name)
    if (prepare !== undefined) await run(process.execPath, [prepare], { cwd, env, timeout: LIMIT_MS })
  }
}

const isThere = async (folder: string, agent: Agent): Promise<boolean> => {
  try {
    const file = join(folder, 'node_modules', agent.package, 'package.json')
    return JSON.parse(await readFile(file, 'utf8')).version === agent.version
  } catch {
    return false
  }
}
