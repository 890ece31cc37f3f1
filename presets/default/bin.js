#!/usr/bin/env node
// No static import: on a Node that is too old, loading anything could fail before this file can say why.
// JavaScript, as what it loads first: Node takes 35 ms to get ready to strip types, and need not once compiled code is kept.

/**
 * A reader that has left, as in `guard … | head`, is no failure; a full disk behind `>` is one, and ends the command.
 * @param {NodeJS.ErrnoException} error
 */
const onOutputError = ({ code, message }) => {
  if (code === 'EPIPE') return
  process.stderr.write(`error: the output cannot be written: ${message}\n`)
  process.exit(1)
}
process.stdout.on('error', onOutputError)
// a log that cannot be written stops no gateway
process.stderr.on('error', () => {})

const needed = '22.19'
const found = process.versions.node
const [major = 0, minor = 0] = found.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `guard needs Node ${needed} or newer; this is ${found}. Install a newer Node, or run "npx -p node@24 guard …".\n`,
  )
  process.exitCode = 1
} else {
  const { answersQuickly } = await import('./quick-answers.js')
  const argv = process.argv.slice(2)
  if (!answersQuickly(argv)) {
    const { fitHeap } = await import('./heap.js')
    fitHeap()
    const { prestartDatabase } = await import('./prestart-database.ts')
    prestartDatabase(argv)
    const { runProcess } = await import('./process.ts')
    await runProcess()
  }
}

export {}
