select * from read_csv('{{ env_var("RELEASE") }}', all_varchar = true)
