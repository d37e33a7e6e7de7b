# Shinken Gym. The two commands: `make demo` and `make test`. A stage that has nothing to do says `cached`.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo test build bench lint format clean schemas setup setup-test setup-lint addon agent dist package prebuild test-package

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Node's headers, where they lie beside the node binary; otherwise node-gyp fetches them.
NODE_PREFIX := $(shell node -p 'require("path").resolve(process.execPath, "../..")' 2>/dev/null)
NODE_HEADERS := $(if $(wildcard $(NODE_PREFIX)/include/node/node_api.h),$(NODE_PREFIX),)
NODEDIR := $(if $(NODE_HEADERS),--nodedir=$(NODE_HEADERS),)
GYP := node_modules/.bin/node-gyp

ADDON := build/Release/shinken.node
ADDON_SOURCES := binding.gyp $(shell find native/monitor native/addon -name '*.cc' -o -name '*.h' 2>/dev/null)
AGENT := build/agent/shinken-agent
AGENT_SOURCES := $(shell find native/agent -name '*.[ch]' -o -name Makefile 2>/dev/null)
TS_SOURCES := $(shell find src -name '*.ts' 2>/dev/null)
DIST := build/dist.stamp
PREBUILD := build/prebuild.stamp

help:
	@echo 'make demo    install, build, make the guest image, run the demo tasks, print a scorecard'
	@echo 'make test    every test of every language'
	@echo 'make build   packages, addon, guest agent, JavaScript'
	@echo 'make bench   fork, guest and wire benchmarks'
	@echo 'make package what "npm pack" puts into a tarball: build, and the addon in prebuilds/ (make test-package tries it)'
	@echo 'make schemas JSON Schemas of the replay bundle, for docs/skn/schemas and the Python reader'
	@echo 'make lint    format and lint checks of all languages (make format repairs the format)'

demo: build
	@bin/shinken demo $(DEMO_ARGS)

test: setup-test build
	@node scripts/test.mjs $(SUITES)

bench: build
	@bin/shinken bench fork
	@bin/shinken bench guest
	@bin/shinken bench wire

package: build
	@$(MAKE) --no-print-directory prebuild
test-package:
	@scripts/test-package.sh

build: setup node_modules/.package-lock.json
	@$(MAKE) --no-print-directory -j2 addon agent dist

setup:
	@scripts/setup.sh build
setup-test:
	@scripts/setup.sh test
setup-lint:
	@scripts/setup.sh lint

node_modules/.package-lock.json: package.json package-lock.json
	@echo '== packages: npm ci'
	@$(if $(NODE_HEADERS),npm_config_nodedir=$(NODE_HEADERS)) npm_config_jobs=$(JOBS) npm ci --no-audit --no-fund --loglevel=error
	@touch $@

addon:
	@if $(MAKE) --no-print-directory -q $(ADDON) 2>/dev/null; then echo '== addon: cached'; \
	else echo '== addon: compile'; $(MAKE) --no-print-directory $(ADDON); fi
agent:
	@if $(MAKE) --no-print-directory -q $(AGENT) 2>/dev/null; then echo '== agent: cached'; \
	else echo '== agent: compile'; $(MAKE) --no-print-directory $(AGENT); fi
dist:
	@if $(MAKE) --no-print-directory -q $(DIST) 2>/dev/null; then echo '== javascript: cached'; \
	else echo '== javascript: compile'; $(MAKE) --no-print-directory $(DIST); fi

prebuild:
	@if $(MAKE) --no-print-directory -q $(PREBUILD) 2>/dev/null; then echo '== prebuild: cached'; \
	else echo '== prebuild: compile'; $(MAKE) --no-print-directory $(PREBUILD); fi

$(ADDON): $(ADDON_SOURCES)
	@mkdir -p build
	@$(GYP) configure $(NODEDIR) --loglevel=error >build/addon.log 2>&1 && \
	  $(GYP) build $(NODEDIR) --jobs $(JOBS) --loglevel=error >>build/addon.log 2>&1 || { tail -n 40 build/addon.log; exit 1; }
	@touch $@
$(AGENT): $(AGENT_SOURCES) scripts/cross-cc.sh
	@$(MAKE) --no-print-directory -C native/agent CC="$(or $(SHINKEN_AGENT_CC),$(CURDIR)/scripts/cross-cc.sh)"
	@touch $@
$(PREBUILD): $(ADDON_SOURCES) scripts/prebuild.sh
	@JOBS=$(JOBS) scripts/prebuild.sh $(NODE_HEADERS)
	@touch $@
$(DIST): $(TS_SOURCES) tsconfig.json package.json
	@mkdir -p build
	@node_modules/.bin/tsc -p tsconfig.json
	@touch $@

schemas: build
	@node scripts/schemas.mjs

lint: setup-lint build
	@scripts/lint.sh
format:
	@node_modules/.bin/biome format --write .
	@find native \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) -exec clang-format-19 -i {} +
	@python3 -m ruff format bindings/python 2>/dev/null || true

clean:
	@rm -rf build dist prebuilds
