import type { HttpFace } from '../face.ts'
import type { Serve } from './exchange.ts'

const paths = new WeakMap<HttpFace, Map<string, Serve>>()

/** What serves each guarded path of a face, by how it is spelled. */
export const guardedPaths = (face: HttpFace): Map<string, Serve> => {
  const found = paths.get(face) ?? new Map<string, Serve>()
  paths.set(face, found)
  return found
}
