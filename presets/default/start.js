#!/usr/bin/env node
// What `npx guard-gateway` runs: without words it starts the gateway, with words it is `guard`.
if (process.argv.slice(2).every((word) => word === '--')) process.argv.splice(2, 1, 'gateway', 'run')
await import('./bin.js')

export {}
