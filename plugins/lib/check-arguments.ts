export { type Objection, objectionsTo, type Pointed, pointed, pointedTexts, TOOK_TOO_LONG } from './check-arguments/pointed.ts'
