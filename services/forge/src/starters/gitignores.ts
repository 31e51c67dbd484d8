/** Files that git better leaves alone, by language, in the order of the names. */
export const GITIGNORES: Readonly<Record<string, string>> = {
  Go: `# Programs
*.exe
*.dll
*.so
*.dylib
*.test

# Coverage and profiles
*.out
coverage.*

# Workspaces of one machine
go.work
go.work.sum

# Secrets
.env
`,
  Java: `# Compiled
*.class
*.jar
*.war
*.ear
target/
build/
out/

# Tools
.gradle/
*.log
hs_err_pid*
replay_pid*
`,
  Node: `# Installed and built
node_modules/
dist/
*.tsbuildinfo
*.tgz

# Caches and reports
.npm/
.cache/
.eslintcache
coverage/

# Logs
logs/
*.log
npm-debug.log*
yarn-error.log*

# Secrets
.env
.env.*
!.env.example
`,
  Python: `# Compiled
__pycache__/
*.py[cod]

# Built and packaged
build/
dist/
*.egg-info/
*.egg

# Environments
.venv/
venv/
env/

# Caches and reports
.pytest_cache/
.mypy_cache/
.ruff_cache/
.tox/
.coverage
htmlcov/

# Notebooks
.ipynb_checkpoints/

# Secrets
.env
`,
  Rust: `# Compiled
target/
debug/

# Backups of rustfmt
**/*.rs.bk

# Debug information of MSVC
*.pdb
`,
};
