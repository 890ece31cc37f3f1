export { pageKind, panelKind } from '../page.ts'
