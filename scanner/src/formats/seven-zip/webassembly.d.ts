// The parts of Node's WebAssembly that 7-Zip needs; TypeScript keeps these types in the library of browsers.
declare namespace WebAssembly {
  class Module {
    private readonly compiled: true;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  interface Instance {
    readonly exports: Readonly<Record<string, unknown>>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: object): Promise<Instance>;
}
