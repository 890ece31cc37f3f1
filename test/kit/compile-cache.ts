// Loaded before each test file: what one file has compiled, the others need not compile again.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/guard-tests'))
