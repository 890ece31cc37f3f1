// Loaded before each test file: what one process has compiled, the others need not compile again.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../../node_modules/.cache')
const own = join(folder, 'guard-tests')
enableCompileCache(own)
// A gateway's process sets more flags of the engine, and with other flags the engine refuses what it compiled and has it compiled anew:
// what tests start keeps its own. The runner's children are the tests.
process.env.NODE_COMPILE_CACHE = process.env.NODE_TEST_CONTEXT === undefined ? own : join(folder, 'guard-tests-started')
