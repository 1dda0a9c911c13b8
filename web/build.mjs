// SPDX-License-Identifier: GPL-2.0-only
// node build.mjs OUT: bundles src/ into one HTML text without anything outside it, and writes that
// as the C++ source that fkt_selection is linked with.
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const bundle = await build({
  entryPoints: ['src/main.jsx'],
  bundle: true,
  minify: true,
  write: false,
  outdir: 'out',
  format: 'iife',
  target: 'es2020',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'inline',
});
const text = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? '';
// A closing tag within the script would end it.
const script = text('.js').replaceAll('</script', '<\\/script');
// What is bundled asks that its licence goes along.
const bundled = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies);
const licences = bundled.map((name) => `${name}:\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8')}`)
  .join('\n').replaceAll('--', '- -');
const page = readFileSync('src/index.html', 'utf8')
  .replace('/*style*/', () => text('.css'))
  .replace('/*script*/', () => script)
  .replace('/*licences*/', () => licences);

const bytes = [...Buffer.from(page, 'utf8')];
const lines = [];
for (let i = 0; i < bytes.length; i += 24) lines.push(bytes.slice(i, i + 24).join(','));
writeFileSync(process.argv[2], `// Made by web/build.
#include "cli/fkt_selection/page.h"

static const unsigned char kPage[] = {
${lines.join(',\n')}};

std::string_view fkt::cli::selection_page() {
  return {reinterpret_cast<const char*>(kPage), sizeof kPage};
}
std::string_view fkt::cli::selection_page_missing() { return {}; }
`);
