export { AGENT_KEY, byHeaderName, headerText, isCredentialName, projectHeader } from './http/header-names.ts'
export { checkEncoding, inflated, isPlain, withInflated } from './http/inflate.ts'
export { mediaType } from './http/media-type.ts'
export { acceptNoBody } from './http/no-body.ts'
