export { instanceFactKind } from '../session.ts'
