import { MemoryDriver } from "../support/memory_driver.ts";
import { runContract } from "./behaviour.ts";
import "./behaviours/index.ts";

runContract("memory", { openDriver: () => Promise.resolve(new MemoryDriver()), image: "tiny" });
