export { objectionsTo, TOOK_TOO_LONG } from './check-arguments/objections.ts'
export { type Objection, type Pointed, type PointedText, pointed, pointedTexts } from './check-arguments/pointed.ts'
