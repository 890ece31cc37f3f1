// Builds the package into `dist`: JavaScript in chunks, declarations, and the licences of packages in them.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildDeclarations } from './declarations.ts'
import { buildJavaScript } from './javascript.ts'
import { noticesOf } from './notices.ts'
import { root } from './project.ts'

const folder = join(root, 'dist')
await rm(folder, { recursive: true, force: true })
const parts = await Promise.all([buildJavaScript(folder), buildDeclarations(folder)])
await writeFile(join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf(parts.flat()))
