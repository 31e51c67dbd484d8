/** Languages with the endings of their files. Prose and data are no languages here, as everywhere. */
const ENDINGS: Readonly<Record<string, string>> = {
  Ada: 'adb ads',
  Assembly: 'asm s',
  C: 'c h',
  'C#': 'cs',
  'C++': 'cc cpp cxx hh hpp hxx ipp',
  CMake: 'cmake',
  CSS: 'css',
  Clojure: 'clj cljc cljs',
  CoffeeScript: 'coffee',
  'Common Lisp': 'lisp',
  Crystal: 'cr',
  Cuda: 'cu cuh',
  D: 'd',
  Dart: 'dart',
  Elixir: 'ex exs',
  Elm: 'elm',
  'Emacs Lisp': 'el',
  Erlang: 'erl hrl',
  'F#': 'fs fsx',
  Fortran: 'f f90 f95',
  GLSL: 'frag glsl vert',
  Go: 'go',
  Groovy: 'gradle groovy',
  HCL: 'hcl tf',
  HTML: 'htm html xhtml',
  Haskell: 'hs',
  Java: 'java',
  JavaScript: 'cjs js jsx mjs',
  'Jupyter Notebook': 'ipynb',
  Julia: 'jl',
  Kotlin: 'kt kts',
  Less: 'less',
  Lua: 'lua',
  MATLAB: 'mat',
  Nim: 'nim',
  Nix: 'nix',
  OCaml: 'ml mli',
  'Objective-C': 'm',
  'Objective-C++': 'mm',
  PHP: 'php phtml',
  PLpgSQL: 'pgsql',
  Pascal: 'pas pp',
  Perl: 'pl pm',
  PowerShell: 'ps1 psm1',
  Prolog: 'pro',
  Python: 'py pyi pyw',
  R: 'r',
  Racket: 'rkt',
  Ruby: 'gemspec rake rb ru',
  Rust: 'rs',
  SCSS: 'scss',
  SQL: 'sql',
  Scala: 'sc scala',
  Scheme: 'scm ss',
  Shell: 'bash fish sh zsh',
  Smalltalk: 'st',
  Solidity: 'sol',
  Svelte: 'svelte',
  Swift: 'swift',
  SystemVerilog: 'sv svh',
  Tcl: 'tcl',
  TeX: 'cls sty tex',
  TypeScript: 'cts mts ts tsx',
  VHDL: 'vhd vhdl',
  Verilog: 'v',
  'Vim Script': 'vim',
  'Visual Basic .NET': 'vb',
  Vue: 'vue',
  WebAssembly: 'wat',
  Zig: 'zig',
};

/** Files that have a name instead of an ending. */
const NAMES: Readonly<Record<string, string>> = {
  'cmakelists.txt': 'CMake',
  dockerfile: 'Dockerfile',
  gemfile: 'Ruby',
  gnumakefile: 'Makefile',
  makefile: 'Makefile',
  rakefile: 'Ruby',
};

const BY_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) =>
    endings.split(' ').map((ending): [string, string] => [ending, language]),
  ),
);

/** Folders and files that came from elsewhere or were made by programs. */
const FOREIGN =
  /(^|\/)(node_modules|bower_components|vendor|third[-_]party|dist|\.git[^/]*|\.yarn)\/|\.min\.(js|css)$|\.pb\.go$|_pb2\.py$/i;

/** The language a file is written in, by its path; undefined for prose, data and what came from elsewhere. */
export function languageOf(path: string): string | undefined {
  if (FOREIGN.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  return known ?? (dot === -1 ? undefined : BY_ENDING.get(name.slice(dot + 1)));
}
