{
  "variables": {
    # Every translation unit of the monitor and of the N-API shell; a new file needs no line here.
    "glob%": "const fs=require('fs');const dirs=['native/addon',...fs.readdirSync('native/monitor').map(d=>'native/monitor/'+d)];for(const d of dirs)if(fs.statSync(d).isDirectory())for(const f of fs.readdirSync(d).sort())if(f.endsWith('.cc'))console.log(d+'/'+f)"
  },
  "targets": [
    {
      "target_name": "shinken",
      "sources": ["<!@(node -e \"<(glob)\")"],
      "include_dirs": ["native", "<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_DISABLE_CPP_EXCEPTIONS", "_FILE_OFFSET_BITS=64"],
      "cflags!": ["-O3"],
      "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20", "-O3"],
      # The interpreter relies on plain IEEE arithmetic: no contraction into fused operations on any host.
      "cflags_cc": ["-std=c++20", "-O2", "-Wall", "-Wextra", "-ffp-contract=off", "-frounding-math", "-fvisibility=hidden"],
      # dlopen, which is in a library of its own before glibc 2.34.
      "libraries": ["-ldl"],
      "conditions": [
        ["OS=='mac'", {
          "xcode_settings": {
            "CLANG_CXX_LANGUAGE_STANDARD": "c++20",
            "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
            "GCC_ENABLE_CPP_RTTI": "YES",
            "GCC_OPTIMIZATION_LEVEL": "2",
            "OTHER_CPLUSPLUSFLAGS": ["-ffp-contract=off", "-fvisibility=hidden"],
            "MACOSX_DEPLOYMENT_TARGET": "12.0"
          }
        }]
      ]
    },
    {
      # Plain operations of the host that the fork benchmark stands beside.
      "target_name": "bench_baseline",
      "type": "executable",
      "sources": ["benchmarks/native/baseline.c"],
      "cflags": ["-O2", "-Wall", "-Wextra"]
    }
  ]
}
