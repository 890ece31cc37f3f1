import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const home = process.env.HOME

/** Runs a command line agent in its empty home, with a file to read and files of configuration. */
export const runAgent = async (command, args, { files = {}, env = {} } = {}) => {
  for (const [name, text] of Object.entries({ 'notes.txt': 'CANARYresult of the tool\n', ...files })) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const child = spawn(command, args, {
    cwd: home,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 90_000,
  })
  const [code] = await new Promise((resolve) => child.once('exit', (...ended) => resolve(ended)))
  process.stderr.write(`${command} ended with ${code}\n`)
}
