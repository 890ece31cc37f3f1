/** What reads and searches the guide: loaded together when it is first asked for, with the packages that it needs. */
export { readLibrary } from './library.ts'
export { indexOf } from './search.ts'
