/** The operating systems that hvlab runs on. */
export type OperatingSystem = "linux" | "darwin" | "windows";
