// A checked skill and what this run is given → the Skill. Nothing has started yet; all that is not set is told here.

import { existsSync, statSync } from "node:fs";
import { isAbsolute, normalize, relative, resolve } from "node:path";
import { OmegaError } from "../errors.ts";
import { createSecrets, type Secrets, SHORTEST_SECRET } from "../redact.ts";
import { allowedTools } from "./allowed-tools.ts";
import { atExpression, atField } from "./check-templates.ts";
import { dateOf, localTime } from "./clock.ts";
import { isValues, parseFields, type Values } from "./document.ts";
import { parseEnvFile } from "./env-file.ts";
import { readInside, readSource } from "./files.ts";
import { type Fill, fillModel, fillOutcomes, fillPrompt } from "./fill.ts";
import { asText, type GivenInputs, resolveInputs } from "./inputs.ts";
import { readInstructions } from "./instructions.ts";
import type { CheckedSkill } from "./load.ts";
import { invalid, type Problem } from "./problem.ts";
import { findValue, findVariable, isSecretName, type LookUp, type RunValues } from "./references.ts";
import { resolveServers } from "./resolve-servers.ts";
import type { ModelChoice, Skill } from "./skill.ts";
import { fillTemplate, Unfilled } from "./template.ts";

export type LoadOptions = {
  run: string;
  now: Date;
  /** The caller's folder: what flags name is relative to it. */
  cwd: string;
  environment: NodeJS.ProcessEnv;
  inputs: Omit<GivenInputs, "environment" | "isPlayed">;
  workdir?: string | undefined;
  envFile?: string | undefined;
  played?: Playing | undefined;
};

/**
 * Nothing will be started or asked. What is a matter of the machine (secrets, variables, what is inherited) has its name in
 * its place; folders and the time are those of then.
 */
export type Playing = {
  /** Undefined: as the manifest says. */
  workdir: string | undefined;
  /** What `{{ skill.dir }}` says of a skill in this folder. */
  skillDir(dir: string): string;
  /** What `{{ now }}` says; undefined if nobody asked. */
  now: string | undefined;
};

export async function resolveSkill(checked: CheckedSkill, options: LoadOptions): Promise<Skill> {
  const secrets = options.played ? withoutNames(createSecrets()) : createSecrets();
  try {
    return await resolveWith(secrets, checked, options);
  } catch (error) {
    // Nobody else knows them yet: a folder that does not exist may be named after one.
    if (error instanceof OmegaError) error.message = secrets.redact(error.message);
    throw error;
  }
}

async function resolveWith(secrets: Secrets, checked: CheckedSkill, options: LoadOptions): Promise<Skill> {
  const { manifest, fields, dir } = checked;
  const problems: Problem[] = [];
  const report = (problem: Problem) => problems.push(problem);
  const inputs = resolveInputs(manifest.inputs, {
    ...options.inputs,
    environment: options.environment,
    isPlayed: options.played !== undefined,
  });
  for (const { name, value, source, secret } of inputs) {
    if (!secret) continue;
    secrets.add({ name, value: asText(value), source });
    for (const part of partsOf(value)) secrets.add({ name, value: part, source });
  }

  const fillWith =
    (value: LookUp, variable?: LookUp): Fill =>
    (text, path, { variables = false, inGlob = false }) =>
      fillTemplate(text, {
        value: inGlob ? withoutStars(value) : value,
        variable: variables ? variable : undefined,
        onProblem: atField(fields, path, report),
      });
  let now: string | undefined;
  const tellNow = () => {
    now = options.played?.now ?? localTime(options.now);
    return now;
  };
  /** As the texts of this run have it. */
  const namedDir = options.played?.skillDir(dir) ?? dir;
  const early: RunValues = {
    today: () => dateOf(tellNow()),
    now: tellNow,
    "run.id": () => options.run,
    "skill.dir": () => namedDir,
  };
  const workdir = findWorkdir(checked, options, fillWith(findValue(inputs, early)));
  const value = findValue(inputs, { ...early, workdir: () => workdir });
  const variables = readVariables(checked, options, fillWith(value));
  const fill = fillWith(value, findVariable({ ...variables, dir, secrets, isPlayed: options.played !== undefined }));

  const allowed = allowedTools(manifest);
  const { servers, warnings } = await resolveServers(checked, {
    ...options,
    ...variables,
    workdir,
    fill,
    secrets,
    report,
    isPlayed: options.played !== undefined,
  });
  const model = manifest.model && fillModel(manifest.model, fill);
  if (model) collectModelSecrets(model, secrets);
  if (model?.baseUrl !== undefined && !options.played && !URL.canParse(model.baseUrl)) {
    report({
      ...fields.locate(["model", "baseUrl"]),
      message: "model.baseUrl: expected a URL such as https://host/v1",
    });
  }
  const instructions = readInstructions(checked, {
    fillPath: (text) => fill(text, ["instructions", "file"], {}),
    fillText: (text, place, isForeign) =>
      fillTemplate(text, {
        value,
        isForeign,
        onProblem: atExpression(place, "", report),
      }),
  });
  const prompt = fillPrompt(manifest, fill);
  const { permissions, output, expect } = fillOutcomes(manifest, fill);
  if (problems.length > 0) throw invalid(problems);

  return {
    name: checked.name,
    description: manifest.description,
    version: manifest.version,
    file: checked.file,
    dir,
    now,
    workdir,
    inputs,
    model,
    servers,
    instructions,
    prompt,
    permissions,
    allowedTools: allowed.patterns,
    unattended: manifest.unattended,
    limits: manifest.limits,
    output: { schema: readSchema(output?.schema, dir), file: output?.file },
    ownFiles: [
      manifest.envFile,
      givenEnvFile(options, dir),
      fileIn(manifest.instructions),
      fileIn(output?.schema),
      ...servers.flatMap(({ command, args }) =>
        [command, ...args].filter(isAbsolute).map((path) => relative(namedDir, path)),
      ),
    ].flatMap((file) => (file === undefined ? [] : [normalize(file)])),
    expect,
    skills: checked.skills,
    overlap: manifest.overlap,
    auditRequired: requiresAudit(checked),
    secrets,
    warnings: [...checked.warnings, ...allowed.warnings, ...warnings, ...shortSecrets(secrets)],
  };
}

/** Those that have a name in their place are none: what is told of the true ones has that name already. */
function withoutNames({ add, ...secrets }: Secrets): Secrets {
  return {
    ...secrets,
    add(secret) {
      if (!secret.value.includes("‹")) add(secret);
    },
  };
}

/** What a run is given, perhaps by a model, must not widen a rule of its manifest. */
function withoutStars(lookUp: LookUp): LookUp {
  return (reference) => {
    const value = lookUp(reference);
    if (value.includes("*"))
      throw new Unfilled(`the value of ${reference} has a * in it, which would match anything here`);
    return value;
  };
}

/** What a list or an object holds may turn up by itself; its short parts are words. */
function partsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const parts = Object.values(value).flatMap((part) => [asText(part), ...partsOf(part)]);
  return parts.filter((part) => part.length >= SHORTEST_SECRET);
}

function findWorkdir({ manifest, fields }: CheckedSkill, options: LoadOptions, fill: Fill): string {
  const declared = manifest.workdir;
  if (options.played?.workdir !== undefined) return options.played.workdir;
  const path = resolve(
    options.cwd,
    options.workdir ?? (declared === undefined ? "." : fill(declared, ["workdir"], {})),
  );
  const isFolder = options.played !== undefined || (existsSync(path) && statSync(path).isDirectory());
  if (isFolder) return path;
  if (options.workdir !== undefined) throw new OmegaError("USAGE", `--workdir: no such folder: ${path}`);
  throw invalid([{ ...fields.locate(["workdir"]), message: `workdir: no such folder: ${path}` }]);
}

/** What `${NAME}` finds: the environment, then --env-file, then envFile. */
function readVariables({ manifest, dir }: CheckedSkill, options: LoadOptions, fill: Fill) {
  if (options.played) return { environment: options.environment, sourceOf: () => "the cassette" };
  const own = manifest.envFile === undefined ? undefined : readInside(dir, fill(manifest.envFile, ["envFile"], {}));
  const given = options.envFile === undefined ? undefined : readSource(resolve(options.cwd, options.envFile));
  const inOwn = own ? parseEnvFile(own) : {};
  const inGiven = given ? parseEnvFile(given) : {};
  return {
    environment: { ...inOwn, ...inGiven, ...options.environment },
    sourceOf: (name: string) =>
      name in options.environment ? "the environment" : name in inGiven ? `${given?.file}` : `${own?.file}`,
  };
}

/** As seen from the skill's folder, where it may lie. */
function givenEnvFile({ envFile, cwd }: LoadOptions, dir: string): string | undefined {
  return envFile === undefined ? undefined : relative(dir, resolve(cwd, envFile));
}

function fileIn(value: unknown): string | undefined {
  return isValues(value) && typeof value["file"] === "string" ? value["file"] : undefined;
}

/** A sub-skill's calls stand in the audit of the run. */
function requiresAudit({ manifest, skills }: CheckedSkill): boolean {
  return manifest.audit === "required" || skills.some(requiresAudit);
}

type DeclaredSchema = NonNullable<CheckedSkill["manifest"]["output"]>["schema"];

/** A schema may stand in a file of its own. */
function readSchema(schema: DeclaredSchema, dir: string): Values | undefined {
  if (schema === undefined) return undefined;
  const { file } = schema;
  return typeof file === "string" ? parseFields(readInside(dir, file)).values : schema;
}

function collectModelSecrets({ apiKey, headers }: ModelChoice, secrets: Secrets): void {
  if (apiKey !== undefined) secrets.add({ name: "model.apiKey", value: apiKey, source: "the manifest" });
  for (const [name, value] of Object.entries(headers ?? {})) {
    // The scheme is no secret, and the key may turn up without it.
    const secret = value.replace(/^(Bearer|Basic|Token)\s+/i, "");
    // A short literal (`x-team: docs`) is a word; a short key is told as such where it is put in.
    if (secret.length >= SHORTEST_SECRET || isSecretName(name)) {
      secrets.add({ name: `model.headers.${name}`, value: secret, source: "the manifest" });
    }
  }
}

function shortSecrets(secrets: Secrets): string[] {
  return secrets
    .list()
    .filter(({ value }) => value.length < SHORTEST_SECRET)
    .map(({ name }) => `secret ${name} is shorter than ${SHORTEST_SECRET} characters: it cannot be kept out of logs`);
}
