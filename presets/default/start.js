#!/usr/bin/env node
// What `npx guard-gateway` runs: without words it starts the gateway, with words it is `guard`.
if (process.argv.length < 3) process.argv.push('gateway', 'run')
await import('./bin.js')

export {}
