// Builds the package into `dist`: JavaScript in chunks, and declarations.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildDeclarations } from './declarations.ts'
import { buildJavaScript } from './javascript.ts'
import { root } from './project.ts'

const folder = join(root, 'dist')
await rm(folder, { recursive: true, force: true })
await Promise.all([buildJavaScript(folder), buildDeclarations(folder)])
