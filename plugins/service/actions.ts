export { install } from './install.ts'
export { remove } from './remove.ts'
export { status } from './status.ts'
