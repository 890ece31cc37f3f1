#!/usr/bin/env node
// There are no static imports: on an unsupported Node they could fail before this file prints the reason.
// This file is JavaScript, because type stripping takes 35 ms to load, and a compile cache makes it unnecessary.

/**
 * Ignores a closed reader, as in `guard … | head`. Other output errors, such as a full disk, end the command.
 * @param {NodeJS.ErrnoException} error
 */
const onOutputError = ({ code, message }) => {
  if (code === 'EPIPE') return
  process.stderr.write(`error: the output cannot be written: ${message}\n`)
  process.exit(1)
}
process.stdout.on('error', onOutputError)
// a log that cannot be written does not stop the gateway
process.stderr.on('error', () => {})

const needed = '22.19'
const found = process.versions.node
const [major = 0, minor = 0] = found.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  const script = process.argv[1] ?? ''
  const program = /guard-gateway$|start\.js$/.test(script) ? 'guard-gateway' : 'guard …'
  let source = 'guard-gateway'
  const [folder = ''] = /^.*[\\/]_npx[\\/][^\\/]+[\\/]/.exec(script) ?? []
  try {
    const { readFileSync } = await import('node:fs')
    const { resolve } = await import('node:path')
    const file = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')).dependencies['guard-gateway']
    // npx was given a file, which no registry need have
    if (folder && file.startsWith('file:')) source = `file:${resolve(folder, file.slice(5))}`
  } catch {}
  process.stderr.write(
    `Guard Gateway needs Node ${needed} or newer; this is ${found}. Install a newer Node, or run "npx -p node@24 -p ${source} ${program}".\n`,
  )
  process.exitCode = 1
} else {
  const argv = process.argv.slice(2)
  const { restartWithFlags } = await import('./restart.js')
  restartWithFlags(argv)
  const { runsFastCommand } = await import('./fast-commands.js')
  if (!runsFastCommand(argv)) {
    const { prestartDatabase } = await import('./prestart-database.ts')
    prestartDatabase(argv)
    const { runProcess } = await import('./process.ts')
    await runProcess()
  }
}

export {}
