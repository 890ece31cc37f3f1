import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const version: string = (
  JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('guard-gateway/package.json')), 'utf8')) as {
    version: string
  }
).version
