// Loaded before each test file: what one process has compiled, the others and those that it starts need not compile again.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../node_modules/.cache/guard-tests')
enableCompileCache(folder)
process.env.NODE_COMPILE_CACHE = folder
