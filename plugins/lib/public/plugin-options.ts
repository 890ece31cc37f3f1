export { configurable } from '../plugin-options.ts'
