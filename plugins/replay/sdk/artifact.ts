import type { Artifact } from './api.ts'
import { AttributeSet } from './attribute-set.ts'
import { newRecordId } from './ids.ts'
import type { ArtifactRecord } from './records.ts'
import { boundedText } from './snapshot.ts'

export interface ArtifactTaken {
  /** Undefined if the artifact cannot be recorded. */
  readonly record?: ArtifactRecord
  /** The omitted parts, and the reason. */
  readonly wrong?: string
}

/** The record of an artifact, without values that the gateway would refuse. */
export const artifactRecord = (artifact: Artifact, span_id: string | undefined): ArtifactTaken => {
  const { path, mimeType, size, sha256, attributes } = artifact
  if (typeof path !== 'string' || path === '') return { wrong: 'An artifact without a path was left out.' }
  const attributeSet = new AttributeSet()
  attributeSet.add(attributes)
  const isSize = size === undefined || (Number.isSafeInteger(size) && size >= 0)
  const isDigest = sha256 === undefined || /^[0-9a-f]{64}$/i.test(sha256)
  const record: ArtifactRecord = {
    kind: 'artifact',
    id: newRecordId('art_'),
    span_id,
    path: boundedText(path),
    mime_type: mimeType === undefined ? undefined : boundedText(String(mimeType)),
    size: isSize ? size : undefined,
    sha256: isDigest ? sha256?.toLowerCase() : undefined,
    attributeSet,
  }
  if (isSize && isDigest) return { record }
  const wrong = isSize ? 'sha256 must be 64 hex digits' : 'size must be a whole number of bytes'
  return { record, wrong: `Part of an artifact was left out: ${wrong}.` }
}
