/** Whether V8 is the version that the flags of this program were tested with. Other versions might reject them. */
export const isTestedEngine = (versions = process.versions) => versions.v8.startsWith('13.6.')
